using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Paging;

/// <summary>
/// Pages as they lie on the disk: read by calls and past the system's cache where it allows that, never through the map. So a
/// disk that cannot read is an error here, where a touch of the map would end the process, and a page that the cache still has
/// right does not hide a wrong one. One thread at a time.
/// </summary>
internal sealed class DiskPages(IFile file, DecryptedPages? decrypted)
{
    /// <summary>Pages of a long value that are read at a time.</summary>
    private const int ChunkPages = 32;

    /// <summary>
    /// Whether what is read comes from the disk itself; otherwise the system may answer from memory. Known after the first read.
    /// </summary>
    public bool IsPastCache => file.ReadsPastCache;

    /// <summary>Reads pages side by side; returns why they cannot be read, or null.</summary>
    public string? Read(long number, Span<byte> destination)
    {
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

    /// <summary>What is wrong with a page, or with the run it begins, or null.</summary>
    /// <param name="number">Its number.</param>
    /// <param name="page">It, as it was read.</param>
    /// <param name="pages">Pages of the run it begins; 1 where it is damaged.</param>
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
    /// The length of a run whose header is right, without a look at the rest of it; 0 where the page begins none.
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

    /// <summary>Checksums are of what lies in the file, so this needs no key and no more memory than a chunk.</summary>
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
