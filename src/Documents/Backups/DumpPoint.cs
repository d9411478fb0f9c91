using System.Globalization;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// The position of a database for logical backups: equal positions mean equal contents. Identities, index definitions and
/// index settings have no etag, so hashes of them are compared.
/// </summary>
/// <param name="StoreId">The id of the documents' store; a restored database has a new one, as its history diverges.</param>
/// <param name="Etag">The etag of the last change.</param>
/// <param name="Indexes">The hash of the index definitions and settings.</param>
/// <param name="Identities">The hash of the identities.</param>
internal sealed record DumpPoint(Guid StoreId, long Etag, string Indexes, string Identities)
{
    private const int FingerprintDigits = 32;
    private const char Between = ';';

    /// <summary>Returns the position of a snapshot.</summary>
    public static DumpPoint Of(Guid storeId, DatabaseSnapshot snapshot, IReadOnlyList<DumpedIndex> indexes)
    {
        using var hash = new ContentHash();
        foreach (DumpedIndex index in indexes)
        {
            hash.Index(index.Mapping);
            hash.Settings(index.Settings);
        }

        string definitions = hash.Finish()[..FingerprintDigits];
        foreach ((string name, long value) in snapshot.Identities())
            hash.Identity(name, value);
        return new DumpPoint(storeId, snapshot.LastEtag, definitions, hash.Finish()[..FingerprintDigits]);
    }

    /// <summary>Returns the current position of a database.</summary>
    public static DumpPoint Of(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return Of(database.Environment.StoreId, snapshot, DumpedIndex.Of(database));
    }

    /// <summary>Parses the result of <see cref="ToString"/>; returns null if it is not one.</summary>
    public static DumpPoint? Parse(ReadOnlySpan<string> parts) =>
        parts.Length == 4
        && Guid.TryParseExact(parts[0], "N", out Guid storeId)
        && long.TryParse(parts[1], NumberStyles.None, CultureInfo.InvariantCulture, out long etag)
        && IsFingerprint(parts[2]) && IsFingerprint(parts[3])
            ? new DumpPoint(storeId, etag, parts[2], parts[3])
            : null;

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{StoreId:N}{Between}{Etag}{Between}{Indexes}{Between}{Identities}");

    private static bool IsFingerprint(string text) => text.Length == FingerprintDigits && text.All(char.IsAsciiHexDigitLower);
}
