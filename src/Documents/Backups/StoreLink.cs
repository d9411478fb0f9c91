using System.Globalization;

namespace Treepie.Backups;

/// <summary>Which store a backup holds, and up to which commit.</summary>
/// <param name="Name">Its folder below the database's.</param>
/// <param name="StoreId">The store.</param>
/// <param name="Commit">The commit.</param>
internal sealed record StoreLink(string Name, Guid StoreId, long Commit)
{
    private const char Between = ',';

    /// <summary>Reads what <see cref="ToString"/> gave.</summary>
    public static StoreLink Parse(string text)
    {
        string[] parts = text.Split(Between);
        if (parts.Length != 3
            || !Guid.TryParseExact(parts[1], "N", out Guid storeId)
            || !long.TryParse(parts[2], NumberStyles.None, CultureInfo.InvariantCulture, out long commit))
            throw new FormatException($"'{text}' is no store of a link of a chain of backups.");
        return new StoreLink(Uri.UnescapeDataString(parts[0]), storeId, commit);
    }

    /// <inheritdoc/>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{Uri.EscapeDataString(Name)}{Between}{StoreId:N}{Between}{Commit}");
}
