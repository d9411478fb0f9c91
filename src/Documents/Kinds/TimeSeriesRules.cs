using System.Text;

namespace Treepie.Kinds;

/// <summary>The retention and roll-up policies of the time series of a collection.</summary>
public sealed record TimeSeriesRules
{
    /// <summary>Whether the policies are disabled. They catch up when they are enabled again.</summary>
    public bool IsDisabled { get; init; }

    /// <summary>
    /// How long raw entries are kept. Null: forever. They are deleted only after they have been rolled up.
    /// </summary>
    public TimeSeriesPeriod? RawRetention { get; init; }

    /// <summary>
    /// The roll-up policies, finest first: each aggregates the previous one, the first one the raw entries.
    /// </summary>
    public IReadOnlyList<TimeSeriesPolicy> Policies { get; init; } = [];

    /// <summary>Returns a copy with a policy, which replaces one of the same name.</summary>
    public TimeSeriesRules With(TimeSeriesPolicy policy)
    {
        ArgumentNullException.ThrowIfNull(policy);
        return this with
        {
            Policies = Sort(
                Policies.Where(one => !string.Equals(one.Name, policy.Name, StringComparison.OrdinalIgnoreCase)).Append(policy)),
        };
    }

    /// <summary>Returns the policies in the order in which they aggregate each other.</summary>
    internal static IReadOnlyList<TimeSeriesPolicy> Sort(IEnumerable<TimeSeriesPolicy> policies) =>
        [.. policies.OrderBy(static policy => Length(policy.Aggregation))];

    /// <summary>Returns the position of a series among the policies, by its name: 0 for a series of raw entries.</summary>
    /// <returns>-1 if it is the roll-up of an unknown policy.</returns>
    internal int LevelOf(string series, out string raw)
    {
        int at = series.LastIndexOf(TimeSeriesPolicy.Separator);
        raw = at < 0 ? series : series[..at];
        if (at < 0)
            return 0;
        for (int i = 0; i < Policies.Count; i++)
            if (series.AsSpan(at + 1).Equals(Policies[i].Name, StringComparison.OrdinalIgnoreCase))
                return i + 1;
        return -1;
    }

    /// <summary>Returns how long entries of a level are kept.</summary>
    internal TimeSeriesPeriod? RetentionOf(int level) => level == 0 ? RawRetention : Policies[level - 1].Retention;

    internal void Check(string collection)
    {
        var names = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        for (int i = 0; i < Policies.Count; i++)
        {
            TimeSeriesPolicy policy = Policies[i];
            if (policy.Name.Length == 0 || policy.Name.Contains(TimeSeriesPolicy.Separator, StringComparison.Ordinal)
                || Encoding.UTF8.GetByteCount(policy.Name) > 128 || !names.Add(policy.Name))
                throw Invalid(collection, $"has a policy '{policy.Name}': names have 1 to 128 bytes, no '@', and are given once");
            if (policy.Aggregation is { Months: <= 0, Ticks: <= 0 })
                throw Invalid(collection, $"has a policy '{policy.Name}' without a time that it sums up");
            Require(collection, policy.Name, policy.Retention, policy.Aggregation);
            if (i > 0 && !Fits(Policies[i - 1].Aggregation, policy.Aggregation))
                throw Invalid(
                    collection,
                    $"has '{policy.Name}' behind '{Policies[i - 1].Name}': each policy sums up whole stretches of the one "
                    + $"before, "
                        + $"the finest first");
        }

        if (Policies.Count > 0)
            Require(collection, "the raw policy", RawRetention, Policies[0].Aggregation);
        for (int i = 0; i < Policies.Count - 1; i++)
            Require(collection, Policies[i].Name, Policies[i].Retention, Policies[i + 1].Aggregation);
        if (RawRetention is { Months: <= 0, Ticks: <= 0 })
            throw Invalid(collection, "keeps entries for no time");
    }

    private static void Require(string collection, string policy, TimeSeriesPeriod? retention, TimeSeriesPeriod aggregation)
    {
        if (retention is { } kept && Length(kept) < Length(aggregation))
            throw Invalid(collection, $"keeps entries of '{policy}' for a shorter time than is summed up");
    }

    private static bool Fits(TimeSeriesPeriod fine, TimeSeriesPeriod coarse)
    {
        if (Length(coarse) <= Length(fine))
            return false;
        if (coarse.Months > 0)
            return fine.Months > 0 ? coarse.Months % fine.Months == 0 : TimeSpan.TicksPerDay % fine.Ticks == 0;
        return fine.Months == 0 && coarse.Ticks % fine.Ticks == 0;
    }

    private static long Length(TimeSeriesPeriod period) =>
        period.Months > 0 ? period.Months * 28 * TimeSpan.TicksPerDay : period.Ticks;

    private static InvalidDocumentException Invalid(string collection, string what) =>
        new($"The configuration of time series of '{collection}' {what}. Nothing was changed.");
}
