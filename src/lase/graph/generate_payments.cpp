#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/random.h"
#include "lase/graph/generate.h"

namespace lase {
namespace {

enum PaymentStream : uint64_t { kAccountStream = 201, kPaymentStream, kPartnerStream };

constexpr std::array<const char*, 8> kNames = {"Zoë",  "Bjørn", "李娜", "Müller",
                                               "Aïda", "Łucja", "Иван", "Smith"};
constexpr std::array<const char*, 3> kSegments = {"private", "business", "public"};
constexpr std::array<const char*, 4> kChannels = {"card", "web", "wire", "cash"};
constexpr int64_t kSecondsPerHour = 3600;
constexpr int64_t kSecondsPerDay = 24 * kSecondsPerHour;
constexpr double kFraud = 0.08;    // of the accounts
constexpr double kUnknown = 0.2;   // accounts without a status
constexpr double kMissing = 0.03;  // amounts and channels
constexpr uint64_t kPartners = 8;  // receivers per account

std::string account_name(int64_t account) {
  return join(kNames[static_cast<size_t>(account) % kNames.size()], " ", account);
}

bool is_fraud(int64_t account, uint64_t seed) {
  return Random(seed, kAccountStream, account).chance(kFraud);
}

// "2024-01-31 12:30:00", in seconds since January 1, 2024.
std::string time_text(int64_t seconds) {
  constexpr std::array<int64_t, 12> kDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t day = seconds / kSecondsPerDay;
  int64_t year = 2024;
  size_t month = 0;
  const auto length = [&] { return month == 1 && year % 4 != 0 ? 28 : kDays[month]; };
  while (day >= length()) {
    day -= length();
    month = (month + 1) % kDays.size();
    year += month == 0 ? 1 : 0;
  }
  const int64_t second = seconds % kSecondsPerDay;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02d %02d:%02d:%02d", static_cast<int>(year),
                static_cast<int>(month + 1), static_cast<int>(day + 1),
                static_cast<int>(second / kSecondsPerHour),
                static_cast<int>(second % kSecondsPerHour / 60), static_cast<int>(second % 60));
  return text.data();
}

void write_accounts(const PaymentsOptions& options, const std::string& path) {
  TextWriter accounts(path);
  accounts << "account,segment,opened,balance,status\n";
  for (int64_t account = 0; account < options.accounts; ++account) {
    Random random(options.seed, kAccountStream, account, 1);
    const bool fraud = is_fraud(account, options.seed);
    const auto age = static_cast<int64_t>(random.below(fraud ? 1500 : 3000));
    accounts.field(account_name(account)) << ',' << kSegments[random.below(kSegments.size())];
    accounts << ',' << 2023 - age / 365 << "-0" << 1 + age % 9 << "-1" << age % 10 << ',';
    if (!random.chance(kMissing)) {
      accounts << static_cast<int64_t>(std::exp(7 + 1.5 * random.normal()));
    }
    const bool unknown = random.chance(kUnknown);
    accounts << ',' << (unknown ? "" : fraud ? "fraud" : "ok") << '\n';
  }
  accounts.commit();
}

}  // namespace

const OptionTable<PaymentsOptions>& payments_option_table() {
  static const auto table = [] {
    using O = PaymentsOptions;
    OptionTable<O> all;
    all.add("accounts", &O::accounts, between(20, 1'000'000), "Number of accounts");
    all.add("payments", &O::payments, at_least(1), "Number of payments per week");
    all.add("weeks", &O::weeks, between(1, 500), "Number of weeks");
    all.add("first_week", &O::first_week, between(0, 500),
            "First week; later weeks are new payments between the same accounts");
    all.add("seed", &O::seed, any(),
            "Random seed; the same seed gives the same files on every machine");
    return all;
  }();
  return table;
}

void generate_payments(const PaymentsOptions& options, const std::string& folder) {
  payments_option_table().check(options);
  make_folder(folder);
  write_accounts(options, folder + "/accounts.csv");
  TextWriter payments(folder + "/payments.csv");
  payments << "date,amount,channel,sender,receiver\n";
  const auto accounts = static_cast<uint64_t>(options.accounts);
  for (int64_t week = options.first_week; week < options.first_week + options.weeks; ++week) {
    for (int64_t i = 0; i < options.payments; ++i) {
      Random random(options.seed, kPaymentStream, week, i);
      const auto sender = static_cast<int64_t>(random.below(accounts));
      Random partner(options.seed, kPartnerStream, sender, random.below(kPartners));
      const auto receiver = static_cast<int64_t>(partner.below(accounts));
      // Fraudulent accounts tend to pay round amounts by wire at night.
      const bool typical = is_fraud(sender, options.seed) && random.chance(0.4);
      const auto hour = static_cast<int64_t>(typical ? random.below(6) : 7 + random.below(16));
      const int64_t time =
          week * 7 * kSecondsPerDay + static_cast<int64_t>(random.below(7)) * kSecondsPerDay +
          hour * kSecondsPerHour + static_cast<int64_t>(random.below(kSecondsPerHour));
      auto amount = static_cast<int64_t>(100 * std::exp(4 + random.normal()));
      if (typical) amount = 100'000 * (1 + static_cast<int64_t>(random.below(5)));
      const char* channel = typical ? "wire" : kChannels[random.below(kChannels.size())];
      payments << time_text(time) << ',';
      if (!random.chance(kMissing)) payments << static_cast<double>(amount) / 100;
      payments << ',' << (random.chance(kMissing) ? "" : channel) << ',';
      payments.field(account_name(sender)) << ',';
      payments.field(account_name(receiver)) << '\n';
    }
  }
  payments.commit();
}

}  // namespace lase
