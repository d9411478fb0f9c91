using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Treepie.Bench.Stores;

/// <summary>
/// The keys and values of one transaction, side by side in one pinned array: filling it again allocates nothing, and native
/// engines may be given its addresses.
/// </summary>
internal sealed class Entries
{
    private readonly List<(int Key, int Value, int End)> _places = [];
    private byte[] _bytes = GC.AllocateUninitializedArray<byte>(4096, pinned: true);
    private int _end;

    /// <summary>Entries in it.</summary>
    public int Count => _places.Count;

    /// <summary>Bytes of all keys and values.</summary>
    public int PayloadBytes => _end;

    public void Clear()
    {
        _places.Clear();
        _end = 0;
    }

    public void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        int end = _end + key.Length + value.Length;
        if (end > _bytes.Length)
        {
            byte[] larger = GC.AllocateUninitializedArray<byte>(Math.Max(end, 2 * _bytes.Length), pinned: true);
            _bytes.AsSpan(0, _end).CopyTo(larger);
            _bytes = larger;
        }

        key.CopyTo(_bytes.AsSpan(_end));
        value.CopyTo(_bytes.AsSpan(_end + key.Length));
        _places.Add((_end, _end + key.Length, end));
        _end = end;
    }

    public void Add(Entries others)
    {
        for (int i = 0; i < others.Count; i++)
            Add(others.Key(i), others.Value(i));
    }

    public ReadOnlySpan<byte> Key(int index) => _bytes.AsSpan(_places[index].Key.._places[index].Value);

    /// <summary>As <see cref="Key"/>, as memory.</summary>
    public ReadOnlyMemory<byte> KeyMemory(int index) => _bytes.AsMemory(_places[index].Key.._places[index].Value);

    public ReadOnlySpan<byte> Value(int index) => _bytes.AsSpan(_places[index].Value.._places[index].End);

    /// <summary>
    /// Where a span of this array lies, until the next <see cref="Add(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>.
    /// </summary>
    [SuppressMessage("Performance", "CA1822", Justification = "Only spans of a pinned array have an address.")]
    public unsafe byte* AddressOf(ReadOnlySpan<byte> own) =>
        (byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref MemoryMarshal.GetReference(own));
}
