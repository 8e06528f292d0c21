# `cpack -G DEB`: Debian packages, libballast0 (the shared library), libballast-dev (headers, static library, CMake
# package, pkg-config), ballast (the tool) and, where MPI was found, libballast-mpi. `make packages` builds them with
# the prefix /usr.
set(BALLAST_MAINTAINER "The Ballast authors <ballast@example.org>" CACHE STRING "The maintainer of the Debian packages")

# A group is a package: a component of what everybody installs, and one of the files that Debian asks for.
set(package_runtime libballast${soversion})
set(package_development libballast-dev)
set(package_tool ballast)
set(package_mpi libballast-mpi)
set(groups runtime development)
if(BALLAST_TOOL)
    list(APPEND groups tool)
endif()
if(MPI_C_FOUND)
    list(APPEND groups mpi)
endif()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(CPACK_COMPONENTS_ALL "")
foreach(group ${groups})
    set(name ${package_${group}})
    set(folder "${PROJECT_BINARY_DIR}/package/${name}")
    file(WRITE "${folder}/changelog" "${name} (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
        "  * Version ${PROJECT_VERSION}.\n\n -- ${BALLAST_MAINTAINER}  ${date}\n")
    execute_process(COMMAND gzip -9nf changelog WORKING_DIRECTORY "${folder}" ERROR_QUIET)
    configure_file(LICENSE "${folder}/copyright" COPYONLY)
    install(FILES "${folder}/copyright" "${folder}/changelog.gz" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}"
        COMPONENT debian_${group} EXCLUDE_FROM_ALL OPTIONAL)
    list(APPEND CPACK_COMPONENTS_ALL ballast_${group} debian_${group})
    string(TOUPPER ${group} upper)
    set(CPACK_COMPONENT_BALLAST_${upper}_GROUP ${group})
    set(CPACK_COMPONENT_DEBIAN_${upper}_GROUP ${group})
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
endforeach()

string(CONCAT about "Problems that split into tasks of unpredictable cost, which spawn more tasks\n"
    "as they run, on CPU threads and NVIDIA GPUs.\n")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "${about}.\nThis package contains the shared library.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
# ldconfig runs by a trigger. CPack would write scripts that call it, unless it is given some: these do not exist, and
# it leaves them out.
file(WRITE "${PROJECT_BINARY_DIR}/package/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/package/triggers"
    "${PROJECT_BINARY_DIR}/package/none/postinst" "${PROJECT_BINARY_DIR}/package/none/postrm")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "${about}.\nThis package contains the headers and the static library.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${package_runtime} (= ${PROJECT_VERSION})")
if(HWLOC_FOUND) # the static library needs it
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libhwloc-dev")
endif()
set(CPACK_DEBIAN_MPI_DESCRIPTION
    "${about}.\nThis package contains what runs need that several processes share, over MPI.")
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS
    "${package_runtime} (= ${PROJECT_VERSION}), ${package_development} (= ${PROJECT_VERSION}), libopenmpi-dev")
set(CPACK_DEBIAN_MPI_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers
    "${PROJECT_BINARY_DIR}/package/none/postinst" "${PROJECT_BINARY_DIR}/package/none/postrm")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}") # the shared library is not installed yet
string(CONCAT CPACK_DEBIAN_TOOL_DESCRIPTION "${about}.\n"
    "This package contains the tool, which runs applications, verifies and measures\nqueues, and writes reports.")
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION science)
if(BALLAST_TOOL AND NOT CMAKE_CROSSCOMPILING) # below /usr, Debian's zsh looks only here
    install(FILES "${pages}/_ballast" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions"
        COMPONENT debian_tool EXCLUDE_FROM_ALL)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ballast)
set(CPACK_PACKAGE_VENDOR "The Ballast authors")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${BALLAST_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
