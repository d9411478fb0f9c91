using System.Buffers;
using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>
/// Reads the frames after a checkpoint in order, and distinguishes the end of the log from damage: the log ends at the first
/// frame that is incomplete or not the next one; but if a later frame was written when that one was already durable,
/// acknowledged data is damaged.
/// </summary>
internal sealed class JournalReader(IFileSystem files, IReadOnlyList<JournalFile> all, StoreCipher? cipher)
{
    private const int ScanBytes = 64 << 10;

    /// <summary>
    /// Limit for the bytes hashed behind the end of the log, as a multiple of the file's length. Frames written by this
    /// program do not overlap, so hashing them takes once the file's length, and once more for a frame whose length is
    /// damaged.
    /// </summary>
    private const int MaxHashedShare = 4;

    /// <summary>Applies a frame's payload.</summary>
    public delegate void ApplyFrame(FrameHeader header, ReadOnlySpan<byte> payload);

    /// <summary>The last frame read, or null.</summary>
    public JournalTail? Tail { get; private set; }

    /// <summary>Describes a file that was truncated behind its last frame, so that no frame was lost; or null.</summary>
    public string? Warning { get; private set; }

    /// <summary>Reads the frames from a position on; returns the end of the log.</summary>
    public JournalPosition Read(JournalPosition start, long lastTransaction, bool isClean, ApplyFrame apply)
    {
        Dictionary<long, JournalFile> uses = Uses(start.Use);
        if (start.Use > 0 && !isClean && !uses.ContainsKey(start.Use) && FindNext(uses, start) is null)
            throw new CorruptionException(
                $"The journal file of use {start.Use} is missing from '{files.Path}', or its header is damaged: transactions "
                    + $"after {lastTransaction} may be lost. Put the file back, or restore a backup.");

        JournalPosition position = start;
        byte[] buffer = [];
        while (true)
        {
            // Later uses first: a session that recovered begins its own use with the last frame it found.
            if (FindNext(uses, position) is { } next)
            {
                position = position with { Use = next, Offset = JournalFileHeader.BlockBytes };
            }
            else if (uses.TryGetValue(position.Use, out JournalFile? file)
                && TryReadFrame(file, position, lastTransaction, ref buffer, out FrameHeader header, out ulong hash))
            {
                Decrypt(file, header, buffer);
                apply(header, buffer.AsSpan(FrameHeader.SizeBytes, header.PayloadBytes));
                if (cipher is not null)
                    buffer.AsSpan(0, FrameHeader.SizeBytes + header.PayloadBytes).Clear();
                lastTransaction = header.LastTransaction;
                Tail = new JournalTail(file, position, header);
                position = new JournalPosition(
                    position.Use, position.Offset + FrameHeader.FrameBytes(header.PayloadBytes), position.Frame + 1, hash);
            }
            else
            {
                break;
            }
        }

        if (uses.TryGetValue(position.Use, out JournalFile? cut) && (position.Use > start.Use || !isClean)
            && (FindCut(cut) ?? FindCutFrame(cut, position, lastTransaction)) is { } what)
            throw new CorruptionException(
                $"'{Path.Combine(files.Path, cut.File.Name)}' was cut off: {what}. "
                + $"Its frames are whole up to transaction {lastTransaction}; transaction {lastTransaction + 1} and later ones "
                + $"may have been "
                + "acknowledged and are lost. Nothing was written. "
                + "Put the whole file back, restore a backup, or salvage what is left.");
        if (uses.Count > 0 && uses.Keys.Max() > position.Use)
            throw new CorruptionException(
                $"The journal in '{files.Path}' is damaged at transaction {lastTransaction + 1}: it breaks off in use "
                    + $"{position.Use}, and use {uses.Keys.Max()} was begun after all of it was acknowledged. Nothing was "
                    + $"written. Restore a backup, or salvage what is left.");
        if (uses.TryGetValue(position.Use, out JournalFile? left) && TryReadNextUse(left, out JournalNextUse missing))
            throw new CorruptionException(
                $"The journal in '{files.Path}' breaks off after transaction {lastTransaction}: '{left.File.Name}' says that it "
                    + $"continues in use {missing.Use}, which is missing or has a damaged header, so later transactions were "
                    + $"acknowledged. Nothing was written. Put the file back, restore a backup, or salvage what is left.");
        if ((position.Use > start.Use || !isClean) && uses.TryGetValue(position.Use, out JournalFile? last))
            ThrowIfDamaged(last, position, lastTransaction);
        if (!isClean && uses.Values.FirstOrDefault(file => FindCut(file) is not null) is { } shortened)
            Warning = $"'{shortened.File.Name}' was cut off after its last frame: {FindCut(shortened)}.";
        return position;
    }

    /// <summary>
    /// Describes how much of a file is missing, or returns null. The length is durable before the header is written, so a
    /// power loss cannot shorten it.
    /// </summary>
    private static string? FindCut(JournalFile file)
    {
        if (file.Header is not { } header)
            return null;
        if (header.FileBytes > file.LengthBytes)
            return $"it has {file.LengthBytes} bytes, not the {header.FileBytes} it had when its use {header.Use} began";

        // An older program recorded no length, but the length of its files was always a multiple of this.
        return header.FileBytes == 0 && file.LengthBytes % FrameHeader.AlignmentBytes != 0
            ? $"it has {file.LengthBytes} bytes, which is not a multiple of {FrameHeader.AlignmentBytes}"
            : null;
    }

    /// <summary>
    /// Describes how the log ends beyond the region for frames in a file of this length, or returns null. A frame is written only
    /// if it fits, so in a file without a recorded length, a frame that ends beyond the file shows that the file was cut off. In
    /// a file that has its recorded length, such a header comes from a write that power loss damaged: it has no checksum of its
    /// own.
    /// </summary>
    private static string? FindCutFrame(JournalFile file, JournalPosition position, long lastTransaction)
    {
        if (position.Offset > file.FramesEnd)
            return $"it has {file.LengthBytes} bytes, but the log continues at {position.Offset}";

        Span<byte> head = stackalloc byte[FrameHeader.SizeBytes];
        if (file.Header is not { FileBytes: 0 }
            || file.File.Read(head, position.Offset) < head.Length
            || !FrameHeader.TryRead(head, out FrameHeader header)
            || header.Salt != file.Header?.Salt || header.Frame != position.Frame || header.PreviousHash != position.PreviousHash
            || header.FirstTransaction != lastTransaction + 1)
            return null;

        long end = position.Offset + FrameHeader.FrameBytes(header.PayloadBytes);
        return end > file.FramesEnd ? $"it has {file.LengthBytes} bytes, and the frame at {position.Offset} ends at {end}" : null;
    }

    private void Decrypt(JournalFile file, in FrameHeader header, byte[] buffer)
    {
        if (header.IsEncrypted != cipher is not null)
            throw new CorruptionException(
                $"Frame {header.Frame} of '{Path.Combine(files.Path, file.File.Name)}' is "
                    + $"{(header.IsEncrypted ? "" : "not ")}encrypted, and the environment is{(cipher is null ? " not" : "")}: "
                    + $"someone put it there. Nothing was written. Restore a backup.");
        if (cipher is null)
            return;

        using FrameCipher opener = cipher.NewFrameCipher(file.Header!.Value); // not null: TryReadWhole compared its salt
        if (!opener.TryOpen(buffer.AsSpan(0, FrameHeader.SizeBytes + header.PayloadBytes)))
            throw new CorruptionException(
                $"Frame {header.Frame} of '{Path.Combine(files.Path, file.File.Name)}' (transaction {header.FirstTransaction}) "
                    + $"is whole, but was not sealed with this environment's key: someone without it made or changed it. Nothing "
                    + $"was written. Restore a backup.");
    }

    private static bool TryReadNextUse(JournalFile file, out JournalNextUse next)
    {
        next = default;
        var block = new byte[JournalNextUse.BlockBytes];
        return file.FramesEnd >= JournalFileHeader.BlockBytes && file.File.Read(block, file.FramesEnd) == block.Length
            && JournalNextUse.TryRead(block, out next) && next.Salt == file.Header?.Salt && next.Use == file.Header?.Use + 1;
    }

    /// <summary>
    /// Returns the last use that continues the log at a position, or null. There may be two: the last frame found by a
    /// session may be the first of its use, and is repeated as the first of the session's own use. The earlier header,
    /// together with its frame, may then be lost if the sync that should have made both durable failed.
    /// </summary>
    private static long? FindNext(Dictionary<long, JournalFile> uses, JournalPosition position)
    {
        long? next = null;
        foreach ((long use, JournalFile file) in uses)
            if (use > (next ?? position.Use)
                && file.Header is { } header
                && header.FirstFrame == position.Frame
                && header.PreviousHash == position.PreviousHash)
                next = use;
        return next;
    }

    private static bool TryReadFrame(
        JournalFile file, JournalPosition position, long lastTransaction, ref byte[] buffer, out FrameHeader header,
        out ulong hash)
    {
        hash = 0;
        if (!TryReadWhole(file, position.Offset, ref buffer, out header, ref hash))
            return false;

        return header.Frame == position.Frame && header.PreviousHash == position.PreviousHash
            && header.FirstTransaction == lastTransaction + 1 && header.LastTransaction >= header.FirstTransaction;
    }

    /// <summary>Reads a frame; returns false if it is incomplete or not of this use of its file.</summary>
    public static bool TryReadWhole(JournalFile file, long offset, ref byte[] buffer, out FrameHeader header, ref ulong hash)
    {
        header = default;
        Span<byte> head = stackalloc byte[FrameHeader.SizeBytes];
        if (offset + FrameHeader.SizeBytes > file.LengthBytes
            || file.File.Read(head, offset) < head.Length
            || !FrameHeader.TryRead(head, out header))
            return false;
        if (header.Salt != file.Header?.Salt
            || header.PayloadBytes > Math.Min(file.LengthBytes - offset, Array.MaxLength) - FrameHeader.SizeBytes)
            return false;

        int length = FrameHeader.SizeBytes + header.PayloadBytes;
        if (buffer.Length < length)
            buffer = new byte[(int)Math.Min(Array.MaxLength, Math.Max(length, 2L * buffer.Length))];
        Span<byte> frame = buffer.AsSpan(0, length);
        return file.File.Read(frame, offset) == length && FrameHeader.TryOpen(frame, out hash);
    }

    private Dictionary<long, JournalFile> Uses(long from)
    {
        var uses = new Dictionary<long, JournalFile>();
        foreach (JournalFile file in all)
        {
            if (file.Header is not { } header || header.Use < from)
                continue;
            if (!uses.TryAdd(header.Use, file))
                throw new CorruptionException(
                    $"'{file.File.Name}' and '{uses[header.Use].File.Name}' in '{files.Path}' both say they are use {header.Use} "
                        + $"of the journal: one is a copy. Remove it.");
        }

        return uses;
    }

    private void ThrowIfDamaged(JournalFile file, JournalPosition end, long lastTransaction)
    {
        byte[] frame = [], chunk = ArrayPool<byte>.Shared.Rent(ScanBytes);
        long budgetBytes = MaxHashedShare * file.LengthBytes;
        try
        {
            for (long offset = end.Offset; offset < file.FramesEnd; offset += ScanBytes)
            {
                int read = file.File.Read(chunk.AsSpan(0, (int)Math.Min(ScanBytes, file.FramesEnd - offset)), offset);
                for (int at = 0; at + FrameHeader.SizeBytes <= read; at += FrameHeader.AlignmentBytes)
                {
                    ulong hash = 0;
                    if (!FrameHeader.TryRead(chunk.AsSpan(at), out FrameHeader header) || header.Salt != file.Header?.Salt
                        || header.DurableUpTo <= lastTransaction
                        || offset + at + FrameHeader.FrameBytes(header.PayloadBytes) > file.LengthBytes)
                        continue;

                    budgetBytes -= FrameHeader.FrameBytes(header.PayloadBytes);
                    if (budgetBytes < 0)
                        throw new CorruptionException(
                            $"'{Path.Combine(files.Path, file.File.Name)}' has frames after transaction {lastTransaction} that "
                            + $"overlap and "
                            + "are not whole, which no program that keeps this format writes: it is damaged, or someone made it. "
                            + "Nothing was written. Restore a backup, or salvage what is left.");
                    if (!TryReadWhole(file, offset + at, ref frame, out header, ref hash))
                        continue;

                    throw new CorruptionException(
                        $"The journal in '{files.Path}' is damaged at transaction {lastTransaction + 1} (file "
                        + $"'{file.File.Name}', offset {end.Offset}): "
                        + $"a later frame proves that transactions up to {header.DurableUpTo} were acknowledged. Nothing was "
                        + $"written. Restore a backup, or salvage what is left.");
                }
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(chunk);
        }
    }
}
