#include "lase/base/process_group.h"

#include <filesystem>
#include <thread>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/thread_processes.h"

#include "support.h"

namespace lase {
namespace {

TEST(Part, CoversAllElementsInOrderWithSimilarSizes) {
  for (const int64_t n : {0, 1, 5, 16, 1000}) {
    for (const int64_t parts : {1, 2, 3, 7, 16}) {
      int64_t next = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const Part part = part_of(n, parts, i);
        EXPECT_EQ(part.first, next);
        EXPECT_LE(part.size(), (n + parts - 1) / parts);
        EXPECT_GE(part.size(), n / parts);
        next = part.last;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(ProcessGroup, IsNoneByDefaultAndInOtherThreads) {
  EXPECT_EQ(current_processes(), nullptr);
  EXPECT_EQ(process_count(), 1);
  EXPECT_TRUE(is_first_process());
  EXPECT_EQ(sum_over_processes(7), 7);
  run_processes(2, [](int64_t rank) {
    EXPECT_EQ(process_count(), 2);
    EXPECT_EQ(is_first_process(), rank == 0);
    {
      const ProcessScope alone(nullptr);
      EXPECT_EQ(process_count(), 1);
    }
    EXPECT_EQ(process_count(), 2);
  });
  EXPECT_EQ(current_processes(), nullptr);
}

TEST(ProcessGroup, ExchangesGathersAndSums) {
  for (const int64_t processes : {1, 2, 3, 4}) {
    run_processes(processes, [&](int64_t rank) {
      ProcessGroup& group = *current_processes();
      const std::vector<std::string> texts =
          gather(group, std::string(static_cast<size_t>(rank), 'x') + std::to_string(rank));
      ASSERT_EQ(std::ssize(texts), processes);
      for (int64_t i = 0; i < processes; ++i) {
        EXPECT_EQ(texts[static_cast<size_t>(i)],
                  std::string(static_cast<size_t>(i), 'x') + std::to_string(i));
      }
      // Sizes of 8 bytes, then the texts.
      EXPECT_EQ(group.bytes_sent(), (processes - 1) * (8 + rank + 1));
      EXPECT_EQ(sum_over_processes(rank + 1), processes * (processes + 1) / 2);
    });
  }
}

TEST(ProcessGroup, AnswersQuestionsOfEveryProcess) {
  for (const int64_t processes : {1, 2, 4}) {
    run_processes(processes, [&](int64_t rank) {
      std::vector<Message> questions(static_cast<size_t>(processes));
      for (int64_t i = 0; i < processes; ++i) {
        append(questions[static_cast<size_t>(i)], std::vector<int64_t>{rank, i});
      }
      const auto answers =
          ask(*current_processes(), questions, [&](const Message& question) -> Message {
            const auto asked = MessageReader(question).next<int64_t>();
            EXPECT_EQ(asked[1], rank);
            Message answer;
            append(answer, std::vector<float>(static_cast<size_t>(asked[0]), 0.5F));
            append(answer, std::vector<int32_t>{static_cast<int32_t>(10 * asked[0] + rank)});
            return answer;
          });
      for (int64_t i = 0; i < processes; ++i) {
        MessageReader reader(answers[static_cast<size_t>(i)]);
        EXPECT_EQ(std::ssize(reader.next<float>()), rank);
        EXPECT_EQ(reader.next<int32_t>(),
                  std::vector<int32_t>{static_cast<int32_t>(10 * rank + i)});
      }
    });
  }
}

TEST(Message, RejectsMissingBytes) {
  Message message;
  append(message, std::vector<int64_t>{1, 2});
  for (const size_t size : {size_t{4}, size_t{8}, size_t{17}}) {
    const Message part(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
    expect_error([&] { MessageReader(part).next<int64_t>(); },
                 {"a message from another process is truncated"});
  }
}

// Two threads of every process exchange messages at the same time.
TEST(ProcessGroup, ConnectsAgainForAnotherThread) {
  run_processes(3, [](int64_t rank) {
    const auto again = current_processes()->connect_again();
    std::thread other([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(gather(*again, rank)[1], 1);
    });
    for (int i = 0; i < 50; ++i) EXPECT_EQ(gather(*current_processes(), 10 * rank)[2], 20);
    other.join();
  });
}

TEST(ProcessGroup, NamesWhatDiffersBetweenProcesses) {
  run_processes(3, [](int64_t) {
    require_agreement(*current_processes(), {{"graph", "a"}, {"seed", 1}}, "train together");
  });
  expect_error(
      [] {
        run_processes(3, [](int64_t rank) {
          require_agreement(*current_processes(), {{"graph", "a"}, {"seed", rank == 2 ? 5 : 1}},
                            "train together");
        });
      },
      {"the processes cannot train together: the seed is 1 in process 0 and 5 in process 2"});
  expect_error(
      [] {
        run_processes(2, [](int64_t rank) {
          nlohmann::json about = {{"graph", "a"}};
          if (rank == 1) about["chunks"] = 3;
          require_agreement(*current_processes(), about, "train together");
        });
      },
      {"the chunks is missing in process 0 and 3 in process 1"});
}

class ProcessFiles : public FolderTest {};

TEST_F(ProcessFiles, AreWrittenByTheFirstProcess) {
  run_processes(3, [&](int64_t rank) { write_file(path("out"), std::to_string(rank)); });
  EXPECT_EQ(read_file(path("out")), "0");
  EXPECT_EQ(files(), Strings{"out"});
}

}  // namespace
}  // namespace lase
