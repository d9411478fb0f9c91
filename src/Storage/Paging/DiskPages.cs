using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// Reads pages from disk by system calls, bypassing the system's cache where possible, never through the map. So a read error
/// is reported here, where touching the map would end the process, and a correct copy in the cache does not hide a damaged
/// page. One thread at a time.
/// </summary>
internal sealed class DiskPages(IFile file, DecryptedPages? decrypted)
{
    /// <summary>Number of pages of a long value read at a time.</summary>
    private const int ChunkPages = 32;

    /// <summary>
    /// Whether reads bypass the system's cache; otherwise the system may answer from memory. Known after the first read.
    /// </summary>
    public bool IsPastCache => file.ReadsPastCache;

    /// <summary>Reads consecutive pages; returns the reason if they cannot be read, or null.</summary>
    public string? Read(long number, Span<byte> destination)
    {
        Debug.Assert(
            destination.Length > 0 && destination.Length % PageLayout.SizeBytes == 0, "whole pages are read");
        try
        {
            int read = file.ReadPastCache(destination, number * PageLayout.SizeBytes);
            return read == destination.Length ? null : "the file ends before it";
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            return $"the disk cannot read it ({error.Message})";
        }
    }

    /// <summary>Returns the fault of a page or of the run that begins with it, or null.</summary>
    /// <param name="number">Number of the page.</param>
    /// <param name="page">Its bytes as read.</param>
    /// <param name="pages">Length of the run that begins with it; 1 if it is damaged.</param>
    public string? FindFault(long number, Span<byte> page, out int pages)
    {
        pages = 1;
        var header = new Page(page);
        if (header.Number != number)
            return $"on the disk it says it is page {header.Number}";
        if (header.Type == PageType.Overflow)
            return FindRunFault(number, page, ref pages);

        uint expected = Page.ComputeChecksum(page);
        if (header.Checksum != expected)
            return $"on the disk it has checksum {header.Checksum:x8}, {expected:x8} computed (tree {header.TreeId})";
        return decrypted is not null ? decrypted.FindFault(page) : PageShape.FindFault(page);
    }

    /// <summary>
    /// Returns the number of pages of the page or run whose valid header this is, without checking the rest of a run; 0 if
    /// none begins here.
    /// </summary>
    public static int PagesOf(long number, Span<byte> page)
    {
        var header = new Page(page);
        if (header.Number != number)
            return 0;
        if (header.Type != PageType.Overflow)
            return Page.ComputeChecksum(page) == header.Checksum ? 1 : 0;
        return header.ValueLength is >= 0 and <= FormatLimits.MaxValueBytes ? PageLayout.RunPages(header.ValueLength) : 0;
    }

    /// <summary>
    /// Verifies a run's checksum over the bytes as stored, which needs no key and no more memory than a chunk.
    /// </summary>
    private string? FindRunFault(long number, Span<byte> first, ref int pages)
    {
        var header = new Page(first);
        if (header.ValueLength is < 0 or > FormatLimits.MaxValueBytes)
            return $"on the disk it says its value has {header.ValueLength} bytes";

        int run = PageLayout.RunPages(header.ValueLength);
        long covered = decrypted is null ? PageLayout.HeaderBytes + (long)header.ValueLength : (long)run * PageLayout.SizeBytes;
        uint crc = Crc32C.Append(uint.MaxValue, first[..PageLayout.ChecksumOffset]);
        crc = Crc32C.Append(crc, stackalloc byte[sizeof(uint)]);
        crc = Crc32C.Append(crc, first[(PageLayout.ChecksumOffset + sizeof(uint))..(int)Math.Min(PageLayout.SizeBytes, covered)]);
        using var chunk = new AlignedBuffer(ChunkPages * PageLayout.SizeBytes);
        for (long done = 1; done < run; done += ChunkPages)
        {
            Span<byte> bytes = chunk.Slice(0, (int)Math.Min(ChunkPages, run - done) * PageLayout.SizeBytes);
            if (Read(number + done, bytes) is { } unreadable)
                return $"in its value, {unreadable}";
            crc = Crc32C.Append(crc, bytes[..(int)Math.Min(bytes.Length, covered - (done * PageLayout.SizeBytes))]);
        }

        if (~crc != header.Checksum)
            return $"on the disk its value has checksum {header.Checksum:x8}, {~crc:x8} computed (tree {header.TreeId})";
        pages = run;
        return null;
    }
}
