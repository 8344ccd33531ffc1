#include <array>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/random.h"
#include "lase/graph/generate.h"
#include "lase/graph/split.h"

namespace lase {
namespace {

enum MailStream : uint64_t { kPersonStream = 101, kContactStream, kCircleStream };

constexpr std::array<const char*, 8> kDepartments = {
    "accounts", "design", "legal", "logistics", "marketing", "operations", "research", "sales"};
constexpr int64_t kStart = 1'672'617'600;  // Monday, January 2, 2023
constexpr int64_t kDay = 86'400;
constexpr int64_t kWeek = 7 * kDay;
constexpr int64_t kWeeks = 48;
constexpr uint64_t kCircle = 12;  // correspondents per person

std::string person_name(int64_t person) {
  const std::string digits = std::to_string(person);
  std::string name = "p";
  name.append(digits.size() < 4 ? 4 - digits.size() : 0, '0');
  return name.append(digits);
}

// Each department is busiest in its own weeks, every eighth one.
int64_t draw_week(Random& random, int64_t department, double own_weeks) {
  auto week = static_cast<int64_t>(random.below(kWeeks));
  const auto departments = static_cast<int64_t>(kDepartments.size());
  if (random.chance(own_weeks)) week += department - week % departments;
  return week;
}

}  // namespace

const OptionTable<MailOptions>& mail_option_table() {
  static const auto table = [] {
    using O = MailOptions;
    OptionTable<O> all;
    all.add("people", &O::people, between(2 * kDepartments.size(), 1'000'000),
            "Number of people, spread over eight departments");
    all.add("contacts", &O::contacts, at_least(1), "Number of emails over one year");
    all.add("seed", &O::seed, any(),
            "Random seed; the same seed gives the same files on every machine");
    return all;
  }();
  return table;
}

void generate_mail(const MailOptions& options, const std::string& folder) {
  const auto departments = static_cast<int64_t>(kDepartments.size());
  mail_option_table().check(options);
  make_folder(folder);

  const auto department = [&](int64_t person) { return person % departments; };
  const auto split = random_split(options.people, {0.65, 0.15, 0.2}, options.seed);
  TextWriter people(folder + "/people.csv");
  people << "id,department,split,years,level\n";
  for (int64_t person = 0; person < options.people; ++person) {
    Random random(options.seed, kPersonStream, person);
    // Weak signals: years and level depend slightly on the department.
    const double years = static_cast<double>(department(person)) + 4 + 3 * random.normal();
    const double level = static_cast<double>(department(person) % 3) + 2 + 1.5 * random.normal();
    people << person_name(person) << ',' << kDepartments[static_cast<size_t>(department(person))]
           << ',' << split_name(static_cast<Split>(split[person])) << ','
           << static_cast<int64_t>(std::max(0.0, years)) << ','
           << static_cast<int64_t>(std::max(1.0, level)) << '\n';
  }
  TextWriter contacts(folder + "/contacts.csv");
  contacts << "source,target,time\n";
  const auto draw_person = [&](Random& random) {
    // The minimum of two draws, so that some people write far more than others.
    const auto n = static_cast<uint64_t>(options.people);
    return static_cast<int64_t>(std::min(random.below(n), random.below(n)));
  };
  // One of the few correspondents of a person; colleagues are overrepresented.
  const auto draw_correspondent = [&](int64_t from, uint64_t which) {
    Random random(options.seed, kCircleStream, from, which);
    int64_t to = draw_person(random);
    if (random.chance(0.4)) to += department(from) - department(to);
    return to == from || to >= options.people ? (from + departments) % options.people : to;
  };
  for (int64_t i = 0; i < options.contacts; ++i) {
    Random random(options.seed, kContactStream, i);
    const int64_t from = draw_person(random);
    const int64_t to = draw_correspondent(from, random.below(kCircle));
    const double own_weeks = department(from) == department(to) ? 0.7 : 0;
    const int64_t week = draw_week(random, department(from), own_weeks);
    const auto second = static_cast<int64_t>(random.below(5 * uint64_t{kDay}));
    contacts << person_name(from) << ',' << person_name(to) << ',' << kStart + week * kWeek + second
             << '\n';
  }
  people.commit();
  contacts.commit();
}

}  // namespace lase
