using System.Buffers.Binary;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>The header of a backup part.</summary>
public sealed record BackupPartHeader
{
    private const long MaxMs = 253_402_300_799_999; // the end of the year 9999

    /// <summary>The kind of the part.</summary>
    public required BackupPartKind Kind { get; init; }

    /// <summary>The id of the store in the part; if it contains several, of the first.</summary>
    public required Guid StoreId { get; init; }

    /// <summary>For an increment, the hash of the part that it continues, in hexadecimal; otherwise empty.</summary>
    public string PreviousHash { get; init; } = "";

    /// <summary>When the part was taken.</summary>
    public required DateTimeOffset TakenAt { get; init; }

    /// <summary>The last commit in the part.</summary>
    public required long Commit { get; init; }

    /// <summary>When that commit was made; null if unknown.</summary>
    public DateTimeOffset? CommittedAt { get; init; }

    /// <summary>The commit from which the part continues; -1 for a snapshot.</summary>
    public required long Since { get; init; }

    /// <summary>A description set by the writer, at most 16 MiB of UTF-8.</summary>
    public ReadOnlyMemory<byte> Description { get; init; }

    /// <summary>The number of bytes needed to recognize a part.</summary>
    public static int MagicBytes => PartFormat.Magic.Length;

    /// <summary>Returns whether bytes are the start of a part.</summary>
    public static bool IsPart(ReadOnlySpan<byte> start) => start.StartsWith(PartFormat.Magic);

    /// <summary>
    /// Reads the header from the start of a part, which must not be encrypted or compressed, and disposes the source.
    /// </summary>
    /// <exception cref="BackupPartException">It is not a part, of a newer version, corrupted or truncated.</exception>
    public static async Task<BackupPartHeader> ReadAsync(
        Stream source, string name, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(source);
        using BackupPartReader reader = await BackupPartReader.OpenAsync(source, name, cancellationToken).ConfigureAwait(false);
        return reader.Header;
    }

    /// <summary>Returns the encoded header, including its checksum (the mark), and the mark.</summary>
    internal byte[] Write(out uint mark)
    {
        if (Description.Length > PartFormat.MaxDescriptionBytes)
            throw new StorageException(
                $"The description of a backup has {Description.Length:N0} bytes; {PartFormat.MaxDescriptionBytes:N0} is the "
                    + $"most.");

        var bytes = new byte[PartFormat.HeadBytes + Description.Length + PartFormat.MarkBytes];
        PartFormat.Magic.CopyTo(bytes);
        BinaryPrimitives.WriteInt16LittleEndian(bytes.AsSpan(8), PartFormat.Version);
        BinaryPrimitives.WriteInt16LittleEndian(bytes.AsSpan(10), (short)Kind);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(12), Description.Length);
        StoreId.TryWriteBytes(bytes.AsSpan(16));
        if (PreviousHash.Length > 0)
            Convert.FromHexString(PreviousHash).CopyTo(bytes, 32);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(64), TakenAt.ToUnixTimeMilliseconds());
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(72), Commit);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(80), CommittedAt?.ToUnixTimeMilliseconds() ?? 0);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(88), Since);
        Description.CopyTo(bytes.AsMemory(PartFormat.HeadBytes));
        mark = MarkOf(bytes.AsSpan(0, bytes.Length - PartFormat.MarkBytes));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(bytes.Length - PartFormat.MarkBytes), mark);
        return bytes;
    }

    /// <summary>
    /// Reads the length of the description from the start of a part. Rejects data that is not a part or has a newer format.
    /// </summary>
    internal static int ReadLength(ReadOnlySpan<byte> head, string name)
    {
        if (!head.StartsWith(PartFormat.Magic))
            throw new BackupPartException(
                BackupPartFault.NotAPart,
                $"'{name}' is not a snapshot, increment or log: its first bytes are not those of one. Give the right file.");
        int version = BinaryPrimitives.ReadUInt16LittleEndian(head[8..]);
        if (version > PartFormat.Version)
            throw new BackupPartException(
                BackupPartFault.Newer,
                $"'{name}' has format {version}, this program knows formats up to {PartFormat.Version}. Restore it with the "
                    + $"version that wrote it, or a newer one.");
        int length = BinaryPrimitives.ReadInt32LittleEndian(head[12..]);
        if (length is < 0 or > PartFormat.MaxDescriptionBytes)
            throw Damaged(name, $"its description has an impossible length ({length} bytes)");
        return length;
    }

    /// <summary>Returns the hash algorithm of a part, from its first bytes.</summary>
    internal static BackupHashKind HashOf(ReadOnlySpan<byte> head) =>
        BinaryPrimitives.ReadUInt16LittleEndian(head[8..]) >= PartFormat.Blake3Version
            ? BackupHashKind.Blake3
            : BackupHashKind.Sha256;

    /// <summary>Decodes a header.</summary>
    internal static BackupPartHeader Read(ReadOnlySpan<byte> bytes, string name, out uint mark)
    {
        mark = BinaryPrimitives.ReadUInt32LittleEndian(bytes[^PartFormat.MarkBytes..]);
        ReadOnlySpan<byte> covered = bytes[..^PartFormat.MarkBytes];
        if (MarkOf(covered) != mark)
            throw Damaged(name, "its header does not match its checksum");

        var kind = (BackupPartKind)BinaryPrimitives.ReadUInt16LittleEndian(bytes[10..]);
        long takenMs = BinaryPrimitives.ReadInt64LittleEndian(bytes[64..]),
            commit = BinaryPrimitives.ReadInt64LittleEndian(bytes[72..]);
        long commitMs = BinaryPrimitives.ReadInt64LittleEndian(bytes[80..]),
            since = BinaryPrimitives.ReadInt64LittleEndian(bytes[88..]);
        if (!Enum.IsDefined(kind)
            || takenMs is < 0 or > MaxMs
            || commitMs is < 0 or > MaxMs
            || commit < 0
            || since < -1
            || since > commit
            || (since < 0) != (kind == BackupPartKind.Snapshot))
            throw Damaged(name, $"a part of kind {(int)kind} cannot have the commits {since} to {commit}");

        return new BackupPartHeader
        {
            Kind = kind,
            StoreId = new Guid(bytes.Slice(16, 16)),
            PreviousHash = kind == BackupPartKind.Increment
                ? Convert.ToHexStringLower(bytes.Slice(32, PartFormat.HashBytes))
                : "",
            TakenAt = DateTimeOffset.FromUnixTimeMilliseconds(takenMs),
            Commit = commit,
            CommittedAt = commitMs == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(commitMs),
            Since = since,
            Description = covered[PartFormat.HeadBytes..].ToArray(),
        };
    }

    private static uint MarkOf(ReadOnlySpan<byte> bytes) => ~Crc32C.Append(uint.MaxValue, bytes);

    private static BackupPartException Damaged(string name, string what) =>
        new(BackupPartFault.Damaged, $"'{name}' is damaged: {what}. Take another copy.");
}
