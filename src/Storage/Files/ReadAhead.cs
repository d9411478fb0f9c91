using System.Diagnostics;

namespace Treepie.Storage.Files;

/// <summary>
/// Decides how much of a mapped file is read around a page that is accessed for the first time. By default the system reads
/// as much as its settings say, which may be megabytes for every page of a tree. Here the first page of each MiB is read
/// alone, the next with its neighbour, then four and so on: a look-up reads little more than it needs, and a scan soon reads
/// 256 KiB at once. Nothing is read around pages that were requested explicitly. Memory: 17 bytes per MiB of the file.
/// Thread-safe: concurrent updates may be lost, which costs an extra request.
/// </summary>
internal sealed class ReadAhead
{
    private const int RegionBits = 20;
    private const int BlockBits = 18;
    private const int FirstBits = 13;
    private const int CountBits = 3;
    private const int WordBits = 6;
    private const int WordMask = (1 << WordBits) - 1;
    private const int CountMask = (1 << CountBits) - 1;

    /// <summary>The number of requests after which a region is read in whole blocks: 8 KiB doubled up to 128 KiB.</summary>
    private const int Doublings = BlockBits - FirstBits;

    /// <summary>
    /// Per region: the number of requests made (3 bits), and which of its four blocks were requested as a whole (4 bits).
    /// </summary>
    private byte[] _regions = [];

    /// <summary>One bit for each page that was requested explicitly.</summary>
    private ulong[] _asked = [];

    /// <summary>Makes space for a file of a length. One thread at a time.</summary>
    public void Grow(long lengthBytes)
    {
        Debug.Assert(lengthBytes >> RegionBits >= _regions.Length - 1, "the regions that are known stay");
        byte[] regions = new byte[(lengthBytes >> RegionBits) + 1];
        _regions.CopyTo(regions, 0);
        Volatile.Write(ref _regions, regions);
        ulong[] asked = new ulong[(lengthBytes >> (FirstBits + WordBits)) + 1];
        _asked.CopyTo(asked, 0);
        Volatile.Write(ref _asked, asked);
    }

    /// <summary>Marks pages as requested explicitly.</summary>
    public void Ask(long offset, long lengthBytes)
    {
        ulong[] asked = Volatile.Read(ref _asked);
        for (long page = offset >> FirstBits; page << FirstBits < offset + lengthBytes && page >> WordBits < asked.Length; page++)
            asked[page >> WordBits] |= 1UL << (int)(page & WordMask);
    }

    /// <summary>
    /// Returns the part to read when a page is accessed for the first time; empty if it was requested before.
    /// </summary>
    public (long Offset, long LengthBytes) Next(long offset)
    {
        ulong[] asked = Volatile.Read(ref _asked);
        long page = offset >> FirstBits;
        if (page >> WordBits < asked.Length && (asked[page >> WordBits] & (1UL << (int)(page & WordMask))) != 0)
            return default;

        byte[] regions = Volatile.Read(ref _regions);
        long region = offset >> RegionBits;
        if (region >= regions.Length)
            return default;

        byte state = regions[region];
        int count = state & CountMask;
        if (count < Doublings)
        {
            regions[region] = (byte)(state + 1);
            return Around(offset, FirstBits + count);
        }

        int block = 1 << (CountBits + (int)((offset >> BlockBits) & 3));
        if ((state & block) != 0)
            return default;
        regions[region] = (byte)(state | block);
        return Around(offset, BlockBits);
    }

    /// <summary>
    /// Resets each MiB of which no page is in memory any more: it is read ahead again, starting with a single page. A MiB
    /// that is partly in memory is not reset, so that scattered accesses do not load neighbouring pages each time.
    /// </summary>
    /// <param name="offset">The offset of the first page; a multiple of 1 MiB.</param>
    /// <param name="resident">For each page, whether it is in memory: 1 or 0.</param>
    public void Forget(long offset, ReadOnlySpan<byte> resident)
    {
        const int regionPages = 1 << (RegionBits - FirstBits), regionWords = regionPages >> WordBits;
        byte[] regions = Volatile.Read(ref _regions);
        ulong[] asked = Volatile.Read(ref _asked);
        for (int page = 0; page < resident.Length; page += regionPages)
        {
            int region = (int)(offset >> RegionBits) + (page / regionPages);
            if (region < regions.Length
                && !resident.Slice(page, Math.Min(regionPages, resident.Length - page)).Contains((byte)1))
            {
                regions[region] = 0;
                int word = Math.Min(region * regionWords, asked.Length);
                asked.AsSpan(word, Math.Min(regionWords, asked.Length - word)).Clear();
            }
        }
    }

    private static (long Offset, long LengthBytes) Around(long offset, int bits) => (offset >> bits << bits, 1L << bits);
}
