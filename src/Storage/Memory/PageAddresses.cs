using System.Runtime.CompilerServices;

namespace Treepie.Storage.Memory;

/// <summary>
/// A table with an entry of 4 bytes for each page, and the range of the pages, for look-ups that read one and then the other.
/// Both addresses are stored in this object, so that each access needs one load after it.
/// </summary>
/// <remarks>
/// As in <see cref="AddressRange"/>, indexes and offsets are checked against the lengths. The ranges live as long as this
/// object.
/// </remarks>
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

    /// <summary>The number of pages that have an entry.</summary>
    public long Count { get; }

    /// <summary>The range of the pages.</summary>
    public AddressRange Pages { get; }

    /// <summary>The range of the entries.</summary>
    protected AddressRange Table { get; }

    /// <summary>Reads the entry of a page with acquire semantics. Returns 0 for a page beyond the table.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public uint Find(long number) => (ulong)number < (ulong)Count ? Volatile.Read(ref _entries[number]) : 0;

    /// <summary>Stores an entry with release semantics.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Write(long number, uint entry)
    {
        if ((ulong)number >= (ulong)Count)
            ThrowOutside(number);
        Volatile.Write(ref _entries[number], entry);
    }

    /// <summary>Stores an entry if the current one is as expected. Returns false otherwise.</summary>
    public bool TryExchange(long number, uint expected, uint entry) =>
        (ulong)number < (ulong)Count && Interlocked.CompareExchange(ref _entries[number], entry, expected) == expected;

    /// <summary>Returns the bytes at an offset in the pages.</summary>
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
