namespace Treepie.Backups;

/// <summary>
/// Counts the items taken and skipped in each section of a dump. The number and length of names are limited, because a
/// malicious dump could otherwise exhaust memory.
/// </summary>
internal sealed class SectionCounts
{
    public const string Documents = "Documents", Attachments = "Attachments";

    private const int MaxNames = 100, MaxNameLength = 100;
    private const string OtherKinds = "other kinds";

    private readonly SortedDictionary<string, (long Taken, long LeftOut)> _sections = new(StringComparer.Ordinal);
    private readonly SortedDictionary<string, long> _skipped = new(StringComparer.Ordinal);

    /// <summary>The number of skipped items by kind.</summary>
    public IReadOnlyDictionary<string, long> Skipped => _skipped;

    /// <summary>The sections that are not empty.</summary>
    public IReadOnlyList<BackupSection> All =>
        [.. _sections.Select(static section => new BackupSection(section.Key, section.Value.Taken, section.Value.LeftOut))];

    public void Take(string section) => Add(section, 1, 0);

    /// <summary>Counts an item unless the sink does so later.</summary>
    public void Count(string section, DumpItemFate fate)
    {
        if (fate == DumpItemFate.Taken)
            Take(section);
        else if (fate == DumpItemFate.LeftOut)
            LeaveOut(section);
    }

    /// <summary>Counts a skipped item.</summary>
    /// <param name="section">Its section.</param>
    /// <param name="kind">What it is, if that is more specific; null: its section.</param>
    public void LeaveOut(string section, string? kind = null)
    {
        Add(section, 0, 1);
        string name = Bounded(kind ?? section, _skipped);
        _skipped[name] = _skipped.GetValueOrDefault(name) + 1;
    }

    /// <summary>Counts an invalid document, which the report lists separately.</summary>
    public void Refuse() => Add(Documents, 0, 1);

    /// <summary>Describes the items taken, for the error message of an import that failed.</summary>
    public string DescribeTaken()
    {
        string[] taken = [
            .. _sections.Where(static section => section.Value.Taken > 0)
                .Select(
                    static section => FormattableString.Invariant($"{section.Value.Taken:N0} {section.Key.ToLowerInvariant()}"))];
        return taken.Length == 0 ? "nothing" : string.Join(", ", taken);
    }

    private static string Bounded<T>(string name, SortedDictionary<string, T> known) =>
        name.Length <= MaxNameLength && (known.Count < MaxNames || known.ContainsKey(name)) ? name : OtherKinds;

    private void Add(string section, long taken, long leftOut)
    {
        string name = Bounded(section, _sections);
        (long Taken, long LeftOut) before = _sections.GetValueOrDefault(name);
        _sections[name] = (before.Taken + taken, before.LeftOut + leftOut);
    }
}
