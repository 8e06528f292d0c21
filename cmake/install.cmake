# `cmake --install`: both libraries, the headers, a CMake package, two pkg-config files, and the tool. None of
# them contains the prefix, so the installed folder can be moved. Components: ballast_runtime (the shared library),
# ballast_development (what compiling needs), ballast_tool; ballast_mpi (mpi/CMakeLists.txt).
include(CMakePackageConfigHelpers)

install(TARGETS ballast_static ballast_shared EXPORT ballast_targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ballast_development
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ballast_runtime NAMELINK_COMPONENT ballast_development)
install(DIRECTORY include/ballast "${PROJECT_BINARY_DIR}/include/ballast" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    COMPONENT ballast_development FILES_MATCHING PATTERN "*.h")

# What a program needs to link the static library: hwloc and, with CUDA, the CUDA runtime.
set(private_libs "-pthread")
if(HWLOC_FOUND)
    # CMake makes pkg-config name the system's own folders, which differ between architectures.
    set(hwloc_flags ${HWLOC_LDFLAGS})
    foreach(folder ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
        list(REMOVE_ITEM hwloc_flags "-L${folder}")
    endforeach()
    list(APPEND private_libs ${hwloc_flags})
endif()
if(have_cuda)
    get_filename_component(cudart_folder "${cudart}" DIRECTORY)
    list(APPEND private_libs "-L${cudart_folder}" -lcudart_static -ldl -lrt -lstdc++)
endif()

# ---- the CMake package: find_package(ballast) gives ballast::static and ballast::shared ----
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/ballast")
install(EXPORT ballast_targets NAMESPACE ballast:: DESTINATION "${package_folder}" COMPONENT ballast_development)
configure_package_config_file(cmake/ballast-config.cmake.in "${PROJECT_BINARY_DIR}/package/ballast-config.cmake"
    INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/ballast-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/ballast-config.cmake"
    "${PROJECT_BINARY_DIR}/package/ballast-config-version.cmake" DESTINATION "${package_folder}"
    COMPONENT ballast_development)

# ---- pkg-config: `ballast` links the shared library, `ballast-static` the static one ----
set(pc_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
    file(RELATIVE_PATH up "/prefix/${pc_folder}" "/prefix")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
list(JOIN private_libs " " private_libs)
set(pc_cflags "")
foreach(kind ballast ballast-static)
    if(kind STREQUAL "ballast")
        set(pc_libs "-L\${libdir} -lballast\nLibs.private: ${private_libs}")
    else()
        set(pc_libs "\${libdir}/libballast.a ${private_libs}")
    endif()
    configure_file(cmake/ballast.pc.in "${PROJECT_BINARY_DIR}/package/${kind}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/package/${kind}.pc" DESTINATION "${pc_folder}" COMPONENT ballast_development)
endforeach()
if(MPI_C_FOUND)
    list(JOIN MPI_C_INCLUDE_DIRS " -I" pc_cflags)
    string(PREPEND pc_cflags " -I")
    list(JOIN MPI_C_LIBRARIES " " mpi_libs)
    foreach(kind ballast-mpi ballast-mpi-static)
        if(kind STREQUAL "ballast-mpi")
            set(pc_libs "-L\${libdir} -lballast_mpi ${mpi_libs}\nRequires: ballast")
        else()
            set(pc_libs "\${libdir}/libballast_mpi.a ${mpi_libs}\nRequires: ballast-static")
        endif()
        configure_file(cmake/ballast.pc.in "${PROJECT_BINARY_DIR}/package/${kind}.pc" @ONLY)
        install(FILES "${PROJECT_BINARY_DIR}/package/${kind}.pc" DESTINATION "${pc_folder}" COMPONENT ballast_mpi)
    endforeach()
endif()

# ---- the tool, with the manual page and the completions that it prints of itself ----
set(pages "${PROJECT_BINARY_DIR}/package/pages")
find_program(BALLAST_GZIP gzip)
mark_as_advanced(BALLAST_GZIP)
function(install_tool)
    install(TARGETS ballast_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT ballast_tool)
    if(CMAKE_CROSSCOMPILING) # it does not run here
        return()
    endif()
    set(manual ballast.1)
    if(BALLAST_GZIP)
        set(compress COMMAND "${BALLAST_GZIP}" -9nf ballast.1)
        set(manual ballast.1.gz)
    endif()
    file(MAKE_DIRECTORY "${pages}")
    add_custom_command(TARGET ballast_tool POST_BUILD
        COMMAND sh -c
            "\"$0\" --manual >ballast.1 && \"$0\" --completion bash >ballast && \"$0\" --completion zsh >_ballast"
            $<TARGET_FILE:ballast_tool>
        ${compress}
        WORKING_DIRECTORY "${pages}" VERBATIM)
    install(FILES "${pages}/${manual}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT ballast_tool)
    install(FILES "${pages}/ballast" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions"
        COMPONENT ballast_tool)
    install(FILES "${pages}/_ballast" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions"
        COMPONENT ballast_tool)
endfunction()

if(PROJECT_IS_TOP_LEVEL)
    include(cmake/packages.cmake)
endif()
