using System.Buffers.Binary;
using Treepie.Storage.Format;

namespace Treepie.Storage.Simulation;

/// <summary>
/// An attacker who can change files of an environment and knows their format, but does not have the key. Checksums and hashes,
/// which anyone can compute, are corrected after each change.
/// </summary>
internal static class Forger
{
    /// <summary>Replaces bytes of the data file from a page on, and corrects the checksum.</summary>
    public static DiskImage WithPage(this DiskImage image, long page, ReadOnlySpan<byte> bytes)
    {
        DiskContent data = image.Files[FormatLimits.DataFileName].Fork();
        byte[] forged = bytes.ToArray();
        var header = new Page(forged);
        header.Checksum = Page.ComputeChecksum(forged);
        data.Write(forged, page * PageLayout.SizeBytes);
        return image.With(FormatLimits.DataFileName, data);
    }

    /// <summary>Changes both copies of a meta page.</summary>
    public static DiskImage WithMeta(this DiskImage image, int slot, Action<byte[]> change)
    {
        DiskContent data = image.Files[FormatLimits.DataFileName].Fork();
        for (int copy = 0; copy < 2; copy++)
        {
            var bytes = new byte[MetaPage.CopyBytes];
            long offset = ((long)slot * PageLayout.SizeBytes) + (copy * MetaPage.CopyBytes);
            data.Read(bytes, offset);
            change(bytes);
            var header = new Page(bytes);
            header.Checksum = Page.ComputeChecksum(bytes);
            data.Write(bytes, offset);
        }

        return image.With(FormatLimits.DataFileName, data);
    }

    /// <summary>Changes a frame of a journal file.</summary>
    public static DiskImage WithFrame(this DiskImage image, string file, long offset, Action<byte[]> change)
    {
        byte[] frame = image.FrameAt(file, offset)
            ?? throw new ArgumentException($"There is no frame at {offset} of '{file}'.", nameof(offset));
        change(frame);
        frame.AsSpan(FrameHeader.HashOffset, sizeof(ulong)).Clear();
        FrameHeader.Seal(frame);
        DiskContent journal = image.Files[file].Fork();
        journal.Write(frame, offset);
        return image.With(file, journal);
    }

    /// <summary>Changes the first block of a journal file.</summary>
    public static DiskImage WithJournalHeader(this DiskImage image, string file, Action<byte[]> change)
    {
        const int HashOffset = 64;
        var block = new byte[JournalFileHeader.BlockBytes];
        DiskContent journal = image.Files[file].Fork();
        journal.Read(block, 0);
        change(block);
        block.AsSpan(HashOffset, sizeof(ulong)).Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(block.AsSpan(HashOffset), FrameHash.Compute(block));
        journal.Write(block, 0);
        return image.With(file, journal);
    }

    /// <summary>
    /// A page, or the whole run that begins with it, as stored in the data file; null if the stored page has another number.
    /// </summary>
    public static byte[]? PageAt(this DiskImage image, long number)
    {
        DiskContent data = image.Files[FormatLimits.DataFileName];
        var first = new byte[PageLayout.SizeBytes];
        if (data.Read(first, number * PageLayout.SizeBytes) < first.Length)
            return null;

        var page = new Page(first);
        if (page.Number != number)
            return null;
        if (page.Type != PageType.Overflow)
            return first;

        var run = new byte[PageLayout.RunPages(page.ValueLength) * PageLayout.SizeBytes];
        return data.Read(run, number * PageLayout.SizeBytes) == run.Length ? run : null;
    }

    /// <summary>Header and payload of a frame, or null if there is none.</summary>
    public static byte[]? FrameAt(this DiskImage image, string file, long offset)
    {
        DiskContent journal = image.Files[file];
        var head = new byte[FrameHeader.SizeBytes];
        if (journal.Read(head, offset) < head.Length || !FrameHeader.TryRead(head, out FrameHeader header))
            return null;

        var frame = new byte[FrameHeader.SizeBytes + header.PayloadBytes];
        return journal.Read(frame, offset) == frame.Length ? frame : null;
    }

    /// <summary>The current meta page.</summary>
    public static MetaPage Meta(this DiskImage image)
    {
        MetaPage? newest = null;
        for (int slot = 0; slot < 2; slot++)
            if (image.MetaAt(slot) is { } meta && meta.Checkpoint >= (newest?.Checkpoint ?? 0))
                newest = meta;
        return newest ?? throw new ArgumentException("The image has no meta page.", nameof(image));
    }

    /// <summary>One of the two meta pages, or null if it is not readable.</summary>
    public static MetaPage? MetaAt(this DiskImage image, int slot)
    {
        var bytes = new byte[PageLayout.SizeBytes];
        image.Files[FormatLimits.DataFileName].Read(bytes, (long)slot * PageLayout.SizeBytes);
        return MetaPage.TryRead(bytes, slot, FormatLimits.DataFileName);
    }

    /// <summary>Journal files with a readable header, by use number.</summary>
    public static SortedDictionary<long, (string File, JournalFileHeader Header)> JournalUses(this DiskImage image)
    {
        var uses = new SortedDictionary<long, (string, JournalFileHeader)>();
        var block = new byte[JournalFileHeader.BlockBytes];
        foreach ((string name, DiskContent content) in image.Files)
            if (name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal) && content.Read(block, 0) == block.Length
                && JournalFileHeader.TryRead(block, name, out JournalFileHeader header))
                uses[header.Use] = (name, header);
        return uses;
    }

    /// <summary>Offsets of the frames of one use of a journal file.</summary>
    public static List<long> FrameOffsets(this DiskImage image, string file, JournalFileHeader use)
    {
        var offsets = new List<long>();
        for (long offset = JournalFileHeader.BlockBytes;
             image.FrameAt(file, offset) is { } frame
                 && FrameHeader.TryRead(frame, out FrameHeader header)
                 && header.Salt == use.Salt;)
        {
            offsets.Add(offset);
            offset += FrameHeader.FrameBytes(header.PayloadBytes);
        }

        return offsets;
    }
}
