using System.Globalization;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Where a database stands, as far as a logical backup is concerned: two that are equal hold the same. Identities, and
/// definitions of indexes with what is set of them, have no etag, so their content stands in for one.
/// </summary>
/// <param name="StoreId">The store of its documents: a restored database has another, and goes its own way from there.</param>
/// <param name="Etag">Etag of the last change.</param>
/// <param name="Indexes">Fingerprint of the definitions.</param>
/// <param name="Identities">Fingerprint of the identities.</param>
internal sealed record DumpPoint(Guid StoreId, long Etag, string Indexes, string Identities)
{
    private const int FingerprintDigits = 32;
    private const char Between = ';';

    /// <summary>Where a snapshot stands.</summary>
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

    /// <summary>Where a database stands now.</summary>
    public static DumpPoint Of(Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return Of(database.Environment.StoreId, snapshot, DumpedIndex.Of(database));
    }

    /// <summary>Reads what <see cref="ToString"/> gave; null where it is something else.</summary>
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
