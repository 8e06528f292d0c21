/* Example 13, C++: a program as a struct, and an exception that leaves a task. The program adds up the numbers in lines
 * of text; a line that is no number ends the run, and its message comes out as the error. */
#include <ballast/cpp.h>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct input {
    const std::vector<std::string> *lines;
    uint64_t *total;
};
struct partial { // one worker's
    uint64_t sum;
};

struct adder : bl_defaults {
    using payload = bl_nothing;
    using shared = input;
    using local = partial;
    static constexpr bool pieces = true; // run is given pieces of the loop
    static constexpr uint32_t max_spawn = 0;
    static constexpr const char *name = "adder";

    static void run(bl_task *, const bl_nothing *, uint32_t begin, uint32_t end, const input *in, partial *local) {
        for (uint32_t i = begin; i < end; i++) {
            const std::string &line = (*in->lines)[i];
            if (line.empty() || line.find_first_not_of("0123456789") != std::string::npos)
                throw std::runtime_error("line " + std::to_string(i) + ": '" + line + "' is no number");
            local->sum += std::stoull(line);
        }
    }
    static void merge(const input *in, const partial *local) { bl_merge_add64(in->total, local->sum); }
};

int main() {
    std::vector<std::string> lines;
    for (uint32_t i = 0; i < 100000; i++)
        lines.push_back(std::to_string(i));
    uint64_t total = 0;
    input in{&lines, &total};
    bl_context *context = nullptr;
    bl_config config{};
    config.device = "cpu";
    int status = bl_open(&context, &config);
    if (status == BL_OK)
        status = bl_run_range(context, bl_program_of<adder>(), &in, nullptr, lines.size(), nullptr);
    std::printf("total %llu: %s\n", static_cast<unsigned long long>(total), bl_status_text(status));
    lines[77777] = "many";
    int thrown =
        status == BL_OK ? bl_run_range(context, bl_program_of<adder>(), &in, nullptr, lines.size(), nullptr) : status;
    std::printf("%s: %s\n", bl_status_text(thrown), bl_error_detail(context));
    bl_close(context);
    return status != BL_OK || thrown != BL_ETASK;
}
