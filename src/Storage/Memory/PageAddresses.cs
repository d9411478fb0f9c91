using System.Runtime.CompilerServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// Two ranges side by side, for who looks into the one to know what to read in the other: an entry of 4 bytes for each page, and
/// the pages. Both addresses are in this object, so that a look into either is one load after it.
/// </summary>
/// <remarks>As of <see cref="AddressRange"/>, indexes and offsets are checked against the lengths; the ranges live as long as
/// this.</remarks>
internal abstract unsafe class PageAddresses
{
    private readonly uint* _entries;
    private readonly byte* _pages;
    private readonly long _lengthBytes;

    protected PageAddresses(AddressRange table, AddressRange pages, long count)
    {
        Table = table;
        Pages = pages;
        Count = count;
        _entries = (uint*)table.Start;
        _pages = pages.Start;
        _lengthBytes = pages.Length;
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, table.Length / sizeof(uint));
    }

    /// <summary>Pages that have an entry.</summary>
    public long Count { get; }

    /// <summary>Where the pages lie.</summary>
    public AddressRange Pages { get; }

    /// <summary>Where the entries lie.</summary>
    protected AddressRange Table { get; }

    /// <summary>
    /// The entry of a page, read so that what was written before it was stored is seen; 0 for a page that has none.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint Find(long number) => (ulong)number < (ulong)Count ? Volatile.Read(ref _entries[number]) : 0;

    /// <summary>Stores an entry after all that was written before.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(long number, uint entry)
    {
        if ((ulong)number >= (ulong)Count)
            ThrowOutside(number);
        Volatile.Write(ref _entries[number], entry);
    }

    /// <summary>Stores an entry if another is there now; false if not.</summary>
    public bool TryExchange(long number, uint expected, uint entry) =>
        (ulong)number < (ulong)Count && Interlocked.CompareExchange(ref _entries[number], entry, expected) == expected;

    /// <summary>The bytes at an offset among the pages.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Span(long offset, int lengthBytes)
    {
        if ((ulong)offset > (ulong)_lengthBytes || lengthBytes > _lengthBytes - offset)
            ThrowOutside(offset);
        return new Span<byte>(_pages + offset, lengthBytes);
    }

    private void ThrowOutside(long at) =>
        throw new InvalidOperationException($"{at} lies outside of {Count} pages and {_lengthBytes} bytes.");
}
