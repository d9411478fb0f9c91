using System.Globalization;

namespace Treepie.Backups;

/// <summary>A store in a backup, and its last commit.</summary>
/// <param name="Name">The folder of the store, relative to that of the database.</param>
/// <param name="StoreId">The id of the store.</param>
/// <param name="Commit">The last commit.</param>
internal sealed record StoreLink(string Name, Guid StoreId, long Commit)
{
    private const char Between = ',';

    /// <summary>Parses the result of <see cref="ToString"/>.</summary>
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
