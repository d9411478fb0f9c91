using System.Collections.Concurrent;
using System.Globalization;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>
/// Generates ids such as <c>users/33-A</c> from reserved ranges, so that most need no write. Ranges grow while they are used up
/// quickly. The rest of a range is lost when the database is closed. Thread-safe.
/// </summary>
internal sealed class HiLoIds(Func<HiLoRequest, HiLoRange> nextRange)
{
    private readonly ConcurrentDictionary<string, Range> _ranges = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Returns the next id of a tag: <c>users/33-A</c>.</summary>
    public string Next(string tag)
    {
        (HiLoRange range, long number) = Take(tag);
        return string.Create(CultureInfo.InvariantCulture, $"{range.Prefix}{number}-{range.ServerTag}");
    }

    /// <summary>Returns the next number of a tag.</summary>
    public long NextNumber(string tag) => Take(tag).Number;

    private (HiLoRange Range, long Number) Take(string tag)
    {
        Range range = _ranges.GetOrAdd(tag, static _ => new Range());
        lock (range)
        {
            if (range.Current is null || range.Next > range.Current.High)
            {
                HiLoRange? last = range.Current;
                range.Current = nextRange(
                    new HiLoRequest(tag, last?.LastSize ?? 0, last?.LastRangeAt ?? DateTime.UnixEpoch, last?.High ?? 0));
                range.Next = range.Current.Low;
            }

            return (range.Current, range.Next++);
        }
    }

    private sealed class Range
    {
        public HiLoRange? Current { get; set; }

        public long Next { get; set; }
    }
}
