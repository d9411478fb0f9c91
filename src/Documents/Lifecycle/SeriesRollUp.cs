using System.Text;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Lifecycle;

/// <summary>
/// Rolls up a range of one time series, and deletes entries older than their retention, within one durable step. The result
/// depends on the entries only, so repeating it changes nothing.
/// </summary>
internal sealed class SeriesRollUp(
    DocumentWriter writer, byte[] foldedId, string series, long changeEtag, TimeSeriesConfiguration configuration,
    RollUpProgress progress)
{
    /// <summary>The number of segments per step whose entries are read: about 100,000 entries, a few milliseconds.</summary>
    private const int SegmentsPerStep = 32;

    /// <summary>Segments of a step of which only the heads are read: some 4 µs each.</summary>
    private const int HeadsPerStep = 1_024;

    /// <summary>The number of entries created per step: about 1 µs each.</summary>
    private const int GroupsPerStep = 2_048;

    /// <summary>The number of segments deleted per step.</summary>
    private const int DeletedPerStep = 64;

    /// <summary>Deletions between two steps after which the second still continues its stretch: some 1 µs each.</summary>
    private const int DeletionsBetweenSteps = 2_048;

    /// <summary>The stretch in which the step before ended.</summary>
    private RollUpPart? _part;

    private KindItems Items => writer.Kinds.Items;

    /// <summary>
    /// Performs a step. Returns the position to continue from (null if finished), and when there is more to do without
    /// another change (0: never).
    /// </summary>
    /// <param name="from">The first time at which entries may have changed.</param>
    /// <param name="to">The last time at which entries may have changed.</param>
    public (long? Next, long DueTicks) Run(long from, long to)
    {
        (_part, progress.Part) = (progress.Part, null);
        if (!writer.TryGet(foldedId, out DocumentRecord record)
            || configuration.RulesOf(writer.CollectionOf(record)) is not { } rules
            || rules.LevelOf(series, out string raw) is var level && level < 0)
            return (null, 0);
        string collection = writer.CollectionOf(record);
        byte[] prefix = KindKey.TimeSeriesPrefix(foldedId, Encoding.UTF8.GetBytes(series));
        if (_part is not null && !IsUsable(_part, prefix))
            _part = null;
        TimeSeriesPolicy? policy = level < rules.Policies.Count ? rules.Policies[level] : null;
        string source = level == 0 ? "" : rules.Policies[level - 1].Name;
        long? next = policy is null
            ? null
            : RollUp(prefix, collection, source, raw + TimeSeriesPolicy.Separator + policy.Name, policy.Aggregation, from, to);
        if (next is not null)
            return (next, 0);
        // What is old goes when no change is waiting to be rolled up: another one may concern the same stretch.
        if (changeEtag > 0 && IsOld(prefix, rules.RetentionOf(level), policy?.Aggregation))
            return (null, progress.Ticks);
        return Retain(prefix, collection, source, rules.RetentionOf(level), policy?.Aggregation)
            ? (to, 0)
            : (null, DueOf(prefix, rules.RetentionOf(level), policy?.Aggregation));
    }

    /// <summary>
    /// Rolls up changed periods that were rolled up before, then periods that have ended since; returns the position to
    /// continue from, or null if finished.
    /// </summary>
    private long? RollUp(
        byte[] prefix, string collection, string source, string target, TimeSeriesPeriod stretch, long from, long to)
    {
        if (Items.SegmentAfter(prefix, -1) is not { } first)
            return null;
        byte[] targetPrefix = KindKey.TimeSeriesPrefix(foldedId, Encoding.UTF8.GetBytes(target));
        long over = stretch.Floor(progress.Ticks), begin = stretch.Floor(TreeNames.EtagOfKey(first));
        long rolledUp = LastOf(targetPrefix) is { } last ? Math.Max(begin, stretch.After(last)) : begin;

        // Older entries have been deleted, so the remaining entries of an older period are incomplete.
        from = Math.Max(stretch.Floor(from), progress.CutOf(collection, source));
        to = Math.Min(stretch.After(stretch.Floor(to)), Math.Min(rolledUp, over));
        if (from < to)
        {
            long end = Write(target, Groups(prefix, stretch, from, to, source.Length > 0), from);
            if (end < to)
                return end;
        }

        if (rolledUp >= over)
            return null;
        long done = Write(target, Groups(prefix, stretch, rolledUp, over, source.Length > 0), rolledUp);
        return done < over ? done : null;
    }

    /// <summary>
    /// The stretches of a time and where they end: before the time does, where a step is full. If that is within a stretch, it is
    /// the last one, is not before the end, and the next step continues there.
    /// </summary>
    private (List<RollUpGroup> Groups, long End) Groups(
        byte[] prefix, TimeSeriesPeriod stretch, long from, long to, bool ofRollUps)
    {
        var groups = new List<RollUpGroup>();
        int read = 0, heads = 0;
        if (_part is not null && _part.Start >= from && _part.Next < to)
        {
            groups.Add(new RollUpGroup(_part, ofRollUps));
            from = _part.Next;
        }

        for (byte[]? key = Items.SegmentAt(prefix, from);
             key is not null && TreeNames.EtagOfKey(key) < to;
             key = Items.SegmentAfter(prefix, TreeNames.EtagOfKey(key)))
        {
            if (!Items.TryGet(key, out KindRecord record))
                continue;
            var segment = new TimeSeriesSegment(record.Value);
            if (segment.LastTicks < from)
                continue;
            bool isFull = read > SegmentsPerStep || heads > HeadsPerStep || groups.Count > GroupsPerStep;
            if (isFull)
            {
                long start = stretch.Floor(segment.FirstTicks);
                if (start == groups[^1].Start)
                    progress.Part = new RollUpPart(
                        prefix, changeEtag, writer.LastEtag, start, segment.FirstTicks, groups[^1].ToValues());
                return (groups, start);
            }

            if (segment.FirstTicks >= from && stretch.Floor(segment.FirstTicks) == stretch.Floor(segment.LastTicks))
            {
                heads++;
                GroupOf(groups, stretch.Floor(segment.FirstTicks), ofRollUps).Add(segment);
                continue;
            }

            read++;
            TimeSeriesSegment.Reader reader = segment.Read();
            while (reader.MoveNext() && reader.Ticks < to)
            {
                if (reader.Ticks < from)
                    continue;
                long start = stretch.Floor(reader.Ticks);
                if (groups.Count > GroupsPerStep && start > groups[^1].Start)
                    return (groups, start);
                GroupOf(groups, start, ofRollUps).Add(reader.Values);
            }
        }

        return (groups, to);
    }

    /// <summary>
    /// Whether a part can be continued: what was changed since is reported by the log of changes, but segments that were deleted
    /// are not, unless their entries are in others now.
    /// </summary>
    private bool IsUsable(RollUpPart part, byte[] prefix)
    {
        if (!part.IsOf(prefix, changeEtag) || writer.PurgedUpTo > part.SeenEtag)
            return false;
        using LogReader deletions = Items.Deletions(part.SeenEtag);
        for (int i = 0; deletions.MoveNext(); i++)
        {
            if (i == DeletionsBetweenSteps)
                return false;
            if (!deletions.Value.StartsWith(prefix) || TreeNames.EtagOfKey(deletions.Value) is var ticks && ticks >= part.Next)
                continue;
            bool isReplaced = Items.SegmentAt(prefix, ticks) is { } key
                && Items.TryGet(key, out KindRecord record)
                && record.Etag > deletions.Etag
                && new TimeSeriesSegment(record.Value) is var segment
                && segment.FirstTicks < part.Next
                && segment.LastTicks >= part.Start;
            if (!isReplaced)
                return false;
        }

        return true;
    }

    private static RollUpGroup GroupOf(List<RollUpGroup> groups, long start, bool ofRollUps)
    {
        if (groups.Count == 0 || groups[^1].Start != start)
            groups.Add(new RollUpGroup(start, ofRollUps));
        return groups[^1];
    }

    /// <summary>Writes entries that have changed, and deletes entries of periods that no longer have any.</summary>
    private long Write(
        string target, (List<RollUpGroup> Groups, long End) found, long from)
    {
        (List<RollUpGroup> groups, long end) = found;
        var before = new Dictionary<long, double[]>();
        foreach (TimeSeriesPoint point in Items.TimeSeries(
            foldedId, target, new DateTime(from, DateTimeKind.Utc), new DateTime(Math.Max(from, end - 1), DateTimeKind.Utc)))
            before[point.Timestamp.Ticks] = [.. point.Values];
        var changed = new List<TimeSeriesPoint>();
        foreach (RollUpGroup group in groups)
        {
            if (group.IsEmpty || group.Start >= end)
                continue;
            TimeSeriesPoint point = group.ToPoint();
            if (!before.Remove(group.Start, out double[]? known)
                || !known.AsSpan().SequenceEqual(((double[])point.Values).AsSpan()))
                changed.Add(point);
        }

        // Deletions of whole segments are not visible here; their roll-ups are kept, like those of old entries.
        (DateTime, DateTime)[] gone = groups.Count == 0
            ? []
            : [
                .. before.Keys.Where(ticks => ticks > groups[0].Start && ticks < groups[^1].Start)
                    .Select(static ticks => new DateTime(ticks, DateTimeKind.Utc))
                    .Select(static time => (time, time))];
        if (changed.Count + gone.Length > 0)
            new TimeSeriesCommand("", foldedId, Encoding.UTF8.GetBytes(target), changed, isIncrement: false, gone).Apply(writer);
        return end;
    }

    /// <summary>Deletes entries older than their retention; returns whether there is more to delete.</summary>
    private bool Retain(
        byte[] prefix, string collection, string source, TimeSeriesPeriod? retention, TimeSeriesPeriod? stretch)
    {
        if (retention is not { } kept)
            return false;
        long cut = CutOf(kept, stretch);
        progress.Cut(collection, source, cut);
        if (!IsOld(prefix, retention, stretch))
            return false;
        byte[]? at = Items.SegmentAfter(prefix, -1);
        for (int i = 0; i < DeletedPerStep && at is not null && TreeNames.EtagOfKey(at) < cut; i++)
            at = Items.SegmentAfter(prefix, TreeNames.EtagOfKey(at));
        long end = at is not null && TreeNames.EtagOfKey(at) < cut ? TreeNames.EtagOfKey(at) : cut;
        new TimeSeriesCommand(
            "", foldedId, Encoding.UTF8.GetBytes(series), [], isIncrement: false,
            [(DateTime.MinValue, new DateTime(end - 1, DateTimeKind.Utc))]).Apply(writer);
        return end < cut;
    }

    /// <summary>Returns whether entries exceed their retention.</summary>
    private bool IsOld(byte[] prefix, TimeSeriesPeriod? retention, TimeSeriesPeriod? stretch) =>
        retention is { } kept
            && Items.SegmentAfter(prefix, -1) is { } first
            && writer.Kinds.TryGet(first, out KindRecord record)
            && new TimeSeriesSegment(record.Value).FirstTicks < CutOf(kept, stretch);

    /// <summary>Returns the time before which entries exceed their retention.</summary>
    private long CutOf(TimeSeriesPeriod kept, TimeSeriesPeriod? stretch)
    {
        // By the present clock, as the latest run may have had one that was ahead.
        long cut = kept.Before(Math.Min(progress.Ticks, writer.NowTicks));
        // Delete whole periods only, so that the entries of a period are either complete or gone.
        return stretch?.Floor(cut) ?? cut;
    }

    /// <summary>Returns when the current period ends, or when the oldest entries exceed their retention; 0 if never.</summary>
    private long DueOf(byte[] prefix, TimeSeriesPeriod? retention, TimeSeriesPeriod? stretch)
    {
        long due = long.MaxValue;
        if (stretch is { } length && NextAfter(prefix, length.Floor(progress.Ticks)) is { } open)
            due = length.After(length.Floor(open));
        if (retention is { } kept
            && Items.SegmentAfter(prefix, -1) is { } first
            && Items.TryGet(first, out KindRecord record))
        {
            long old = kept.After(new TimeSeriesSegment(record.Value).FirstTicks);
            due = Math.Min(due, stretch is { } aligned ? aligned.After(old) : old + 1);
        }

        return due == long.MaxValue ? 0 : Math.Max(due, progress.Ticks + TimeSpan.TicksPerSecond);
    }

    /// <summary>
    /// Returns the time of an entry at or after a time, or that time itself if the segment around it may contain one; null
    /// if there is none.
    /// </summary>
    private long? NextAfter(byte[] prefix, long ticks)
    {
        if (Items.SegmentAt(prefix, ticks) is not { } key || !Items.TryGet(key, out KindRecord record))
            return null;
        var segment = new TimeSeriesSegment(record.Value);
        if (segment.LastTicks >= ticks)
            return Math.Max(ticks, segment.FirstTicks);
        return Items.SegmentAfter(prefix, ticks) is { } next ? TreeNames.EtagOfKey(next) : null;
    }

    private long? LastOf(byte[] prefix) =>
        Items.SegmentAt(prefix, DateTime.MaxValue.Ticks) is { } key && Items.TryGet(key, out KindRecord record)
            ? new TimeSeriesSegment(record.Value).LastTicks
            : null;
}
