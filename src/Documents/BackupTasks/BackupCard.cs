using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Backups;
using Treepie.Destinations;
using Treepie.Storage.Backups;

namespace Treepie.BackupTasks;

/// <summary>
/// A small object beside a part of a backup chain, written after the part. Its name says which commits the part holds, so that
/// the chains at a destination are known from a listing, without opening them; its content says from where the next part
/// continues. It contains no secrets. If the card of a part is missing, because its writer was killed, or damaged, the part
/// itself is read. Immutable.
/// </summary>
/// <remarks>
/// Name: that of the part, <c>.{since}-{commit}-{milliseconds of the commit}-{etag}-{store}-{checksum}.card</c>; since is
/// <c>full</c> for a snapshot. The checksum covers the name of the part, without its folder, and everything before the checksum;
/// <see cref="Hash"/> covers the whole content. Cards of format 1 have neither.
/// </remarks>
public sealed record BackupCard
{
    /// <summary>The extension of the names of cards.</summary>
    public const string Extension = ".card";

    private const int MaxBytes = 1 << 20;
    private const string Full = "full";
    private const int UncheckedFormat = 1, CheckedFormat = 2, CheckDigits = 16;

    /// <summary>The version of the format: 2, or 1 for a card without checksums.</summary>
    public int Format { get; init; } = CheckedFormat;

    /// <summary>The name of the part.</summary>
    public required string Part { get; init; }

    /// <summary>The id of the store that the part belongs to.</summary>
    public required Guid StoreId { get; init; }

    /// <summary>The commit from which the part continues; -1 for a snapshot.</summary>
    public required long Since { get; init; }

    /// <summary>The last commit in the part.</summary>
    public required long Commit { get; init; }

    /// <summary>When that commit was made (UTC); null if unknown.</summary>
    public DateTime? CommittedAt { get; init; }

    /// <summary>The last etag in the part.</summary>
    public long LastEtag { get; init; }

    /// <summary>For an increment, the hash of the part that it continues.</summary>
    public string? PreviousHash { get; init; }

    /// <summary>
    /// The link from which the next part continues, as written by <see cref="BackupLink"/>; empty if only the name was read.
    /// </summary>
    public string Link { get; init; } = "";

    /// <summary>
    /// The BLAKE3 hash of the name, <see cref="PreviousHash"/> and <see cref="Link"/>, in hexadecimal; null for a card of format
    /// 1, or if only the name was read.
    /// </summary>
    public string? Hash { get; init; }

    /// <summary>Whether its name has a checksum.</summary>
    internal bool IsChecked => Format == CheckedFormat;

    /// <summary>The name of the card.</summary>
    public string Name => IsChecked ? $"{Part}.{Position}-{CheckOf(Part, Position)}{Extension}" : $"{Part}.{Position}{Extension}";

    private string Position => string.Create(
        CultureInfo.InvariantCulture,
        $"{(Since < 0 ? Full : Since.ToString(CultureInfo.InvariantCulture))}-{Commit}-"
            + $"{(CommittedAt is { } at ? new DateTimeOffset(at, TimeSpan.Zero).ToUnixTimeMilliseconds() : 0)}-{LastEtag}-"
            + $"{StoreId:N}");

    /// <summary>
    /// Creates the card of a part that was just written; null for a backup that is not part of a chain of pages.
    /// </summary>
    /// <param name="part">The name of the part.</param>
    /// <param name="report">The report of the backup.</param>
    /// <param name="since">The link from which the part continues.</param>
    public static BackupCard? Of(string part, BackupReport report, BackupLink? since)
    {
        ArgumentNullException.ThrowIfNull(report);
        return report is { Kind: BackupKind.Snapshot or BackupKind.Log, Link: { } link }
            ? new BackupCard
            {
                Part = part,
                StoreId = link.Stores[0].StoreId,
                Since = since is null ? -1 : report.Kind == BackupKind.Log ? since.LogCommit : since.Commit,
                Commit = report.LastCommit,
                CommittedAt = report.LastCommitAt,
                LastEtag = report.LastEtag,
                PreviousHash = report.Kind == BackupKind.Log ? null : since?.Hash,
                Link = link.ToString(),
            }
            : null;
    }

    /// <summary>
    /// Returns the name of the part that a card of the specified name belongs to, even if the card's checksum is wrong; null if
    /// the name is not that of a card.
    /// </summary>
    public static string? PartOf(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (!name.EndsWith(Extension, StringComparison.Ordinal))
            return null;
        int dot = name.LastIndexOf('.', name.Length - Extension.Length - 1);
        return dot < 1 ? null : name[..dot];
    }

    /// <summary>Parses the name of a card; returns null if it is not the name of an intact card.</summary>
    public static BackupCard? TryParse(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (PartOf(name) is not { } part)
            return null;

        string position = name[(part.Length + 1)..^Extension.Length];
        string[] parts = position.Split('-');
        bool isChecked = parts.Length == 6;
        if (parts.Length is not (5 or 6)
            || !Guid.TryParseExact(parts[4], "N", out Guid storeId)
            || (isChecked && parts[5] != CheckOf(part, position[..position.LastIndexOf('-')])))
            return null;

        var numbers = new long[4];
        for (int i = 0; i < numbers.Length; i++)
            if (!long.TryParse(parts[i], NumberStyles.None, CultureInfo.InvariantCulture, out numbers[i])
                && (i > 0 || parts[0] != Full))
                return null;
        return numbers[2] > DateTimeOffset.MaxValue.ToUnixTimeMilliseconds()
            ? null
            : new BackupCard
            {
                Format = isChecked ? CheckedFormat : UncheckedFormat,
                Part = part,
                StoreId = storeId,
                Since = parts[0] == Full ? -1 : numbers[0],
                Commit = numbers[1],
                CommittedAt = numbers[2] == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(numbers[2]).UtcDateTime,
                LastEtag = numbers[3],
            };
    }

    /// <summary>Writes the card beside its part.</summary>
    /// <exception cref="DestinationException">The card cannot be written.</exception>
    public async Task WriteAsync(BackupDestination place, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(place);
        BackupUpload upload = await place.CreateAsync(Name, cancellationToken).ConfigureAwait(false);
        await using (upload.ConfigureAwait(false))
        {
            await upload.WriteAsync(
                JsonSerializer.SerializeToUtf8Bytes(this with { Hash = ComputeHash() }, BackupTaskJson.Default.BackupCard),
                cancellationToken).ConfigureAwait(false);
            await upload.CommitAsync(cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Reads the content of the card from the destination; returns null if it does not exist or was not written by this program.
    /// </summary>
    /// <exception cref="DestinationException">The card cannot be read.</exception>
    public async Task<BackupCard?> ReadAsync(BackupDestination place, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(place);
        try
        {
            Stream stream = await place.OpenAsync(Name, cancellationToken).ConfigureAwait(false);
            await using (stream.ConfigureAwait(false))
            {
                byte[] bytes = new byte[MaxBytes];
                int length = await stream.ReadAtLeastAsync(bytes, MaxBytes, throwOnEndOfStream: false, cancellationToken)
                    .ConfigureAwait(false);
                BackupCard? card = JsonSerializer.Deserialize(bytes.AsSpan(0, length), BackupTaskJson.Default.BackupCard);
                bool isWhole = card is not null
                    && WithoutContent(card) == WithoutContent(this)
                    && (!IsChecked || card.Hash == card.ComputeHash());
                return isWhole ? card : null;
            }
        }
        catch (DestinationException error) when (error.Fault == DestinationFault.NotFound)
        {
            return null;
        }
        catch (JsonException)
        {
            return null;
        }
    }

    private static BackupCard WithoutContent(BackupCard card) => card with { Link = "", PreviousHash = null, Hash = null };

    private static string CheckOf(string part, string position) =>
        HashOf([part[(part.LastIndexOf('/') + 1)..], position])[..CheckDigits];

    private string ComputeHash() => HashOf([Part[(Part.LastIndexOf('/') + 1)..], Position, PreviousHash ?? "", Link]);

    /// <summary>Hashes each text with its length, so that different splits of the same bytes have different hashes.</summary>
    private static string HashOf(ReadOnlySpan<string> texts)
    {
        using var hash = new BackupHash(BackupHashKind.Blake3);
        Span<byte> length = stackalloc byte[sizeof(int)];
        foreach (string text in texts)
        {
            byte[] utf8 = Encoding.UTF8.GetBytes(text);
            BinaryPrimitives.WriteInt32LittleEndian(length, utf8.Length);
            hash.Append(length);
            hash.Append(utf8);
        }

        return Convert.ToHexStringLower(hash.GetHashAndReset());
    }
}
