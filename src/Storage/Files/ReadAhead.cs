namespace Treepie.Storage.Files;

/// <summary>
/// How much of a mapped file is read around a page that is looked at for the first time. Left to itself the system reads as much
/// as its settings say, which may be megabytes, for every page of a tree. Here the first page of each mebibyte comes alone, the
/// next with its neighbour, then four and so on: a look-up reads little more than it needs, and who reads everything soon reads
/// by quarters of a mebibyte. Who has said which pages he is going to read has asked for just these: nothing is read around them.
/// Memory: 17 bytes for each mebibyte of the file. Any thread; what two of them do at once may be forgotten, which costs a
/// request too many.
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

    /// <summary>Requests of a region after which it is read by whole blocks: from 8 KiB doubled to 128 KiB.</summary>
    private const int Doublings = BlockBits - FirstBits;

    /// <summary>
    /// By region: how many requests were made (3 bits), and which of its four blocks were asked for as a whole (4 bits).
    /// </summary>
    private byte[] _regions = [];

    /// <summary>A bit for each page that was asked for by itself.</summary>
    private ulong[] _asked = [];

    /// <summary>Makes room for a file of so many bytes. One thread at a time.</summary>
    public void Grow(long lengthBytes)
    {
        byte[] regions = new byte[(lengthBytes >> RegionBits) + 1];
        _regions.CopyTo(regions, 0);
        Volatile.Write(ref _regions, regions);
        ulong[] asked = new ulong[(lengthBytes >> (FirstBits + WordBits)) + 1];
        _asked.CopyTo(asked, 0);
        Volatile.Write(ref _asked, asked);
    }

    /// <summary>Notes that whole pages were asked for by themselves.</summary>
    public void Ask(long offset, long lengthBytes)
    {
        ulong[] asked = Volatile.Read(ref _asked);
        for (long page = offset >> FirstBits; page << FirstBits < offset + lengthBytes && page >> WordBits < asked.Length; page++)
            asked[page >> WordBits] |= 1UL << (int)(page & WordMask);
    }

    /// <summary>
    /// What is to be read where a page is looked at for the first time; nothing where that was asked for already.
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
    /// Starts over in each mebibyte of which nothing is in memory any more: it can be read ahead again, and its first page comes
    /// alone again. A mebibyte of which a part is left stays as it is, so that pages which are used here and there do not bring
    /// their neighbours back each time.
    /// </summary>
    /// <param name="offset">Where the pages begin; a multiple of a mebibyte.</param>
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
