using System.Globalization;
using System.Text;

namespace Treepie.Backups;

/// <summary>
/// The position of a chain of backups from which the next incremental or log backup continues. Part of the report of each
/// backup; can be stored as text (<see cref="ToString"/>, <see cref="Parse"/>) and contains no secrets. Immutable.
/// </summary>
public sealed class BackupLink : IEquatable<BackupLink>
{
    private const string Mark = "treepie-link-1", DumpMark = "treepie-dump-link-1";
    private const char Between = ';';

    internal BackupLink(string hash, long logCommit, IReadOnlyList<StoreLink> stores)
    {
        Hash = hash;
        LogCommit = logCommit;
        Stores = stores;
    }

    internal BackupLink(string contentHash, DumpPoint dump)
    {
        Hash = contentHash;
        Dump = dump;
        Stores = [];
    }

    /// <summary>
    /// The hash of the last snapshot or increment of the chain, in hexadecimal; of a logical backup, its content hash.
    /// </summary>
    public string Hash { get; }

    /// <summary>The commit whose state this snapshot or increment holds; 0 for a logical backup.</summary>
    public long Commit => Stores.Count == 0 ? 0 : Stores[0].Commit;

    /// <summary>The last commit in the archived log, or the commit from which on it is to be archived.</summary>
    public long LogCommit { get; }

    /// <summary>The stores in it, starting with that of the documents; none for a logical backup.</summary>
    internal IReadOnlyList<StoreLink> Stores { get; }

    /// <summary>For a logical backup, the position of the database.</summary>
    internal DumpPoint? Dump { get; }

    /// <summary>Parses the result of <see cref="ToString"/>.</summary>
    /// <exception cref="FormatException">The text is not a link.</exception>
    public static BackupLink Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        string[] parts = text.Split(Between);
        if (parts.Length > 2 && parts[0] == DumpMark && IsHash(parts[1]) && DumpPoint.Parse(parts.AsSpan(2)) is { } dump)
            return new BackupLink(parts[1], dump);

        var stores = new List<StoreLink>();
        if (parts.Length < 4 || parts[0] != Mark || !IsHash(parts[1])
            || !long.TryParse(parts[2], NumberStyles.None, CultureInfo.InvariantCulture, out long logCommit))
            throw new FormatException(
                $"'{text}' is no link of a backup. Give the Link in the report of the backup to continue.");
        foreach (string part in parts.Skip(3))
            stores.Add(StoreLink.Parse(part));
        return new BackupLink(parts[1], logCommit, stores);
    }

    /// <summary>Returns the link as text.</summary>
    public override string ToString()
    {
        if (Dump is not null)
            return $"{DumpMark}{Between}{Hash}{Between}{Dump}";

        var text = new StringBuilder()
            .Append(Mark)
            .Append(Between)
            .Append(Hash)
            .Append(Between)
            .Append(LogCommit.ToString(CultureInfo.InvariantCulture));
        foreach (StoreLink store in Stores)
            text.Append(Between).Append(store.ToString());
        return text.ToString();
    }

    /// <inheritdoc/>
    public bool Equals(BackupLink? other) => other is not null && other.ToString() == ToString();

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as BackupLink);

    /// <inheritdoc/>
    public override int GetHashCode() => ToString().GetHashCode(StringComparison.Ordinal);

    private static bool IsHash(string text) => text.Length == 64 && text.All(char.IsAsciiHexDigitLower);
}
