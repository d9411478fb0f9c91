using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>Changes the lengths of one full-text field. Works like <see cref="SortColumnWriter"/>.</summary>
internal sealed class NormColumnWriter
{
    private readonly int[] _lengths = new int[NormChunk.Entries];
    private readonly byte[] _output = new byte[NormChunk.MaxBytes];
    private Tree _column = null!; // Begin sets it before any change
    private long _chunk = -1;

    /// <summary>Switches to another field. Changes that were not flushed are discarded.</summary>
    public void Begin(Tree norms)
    {
        _column = norms;
        _chunk = -1;
    }

    /// <summary>Sets the length of an entry, 0 to remove it; returns the old length.</summary>
    public int Set(long id, int length)
    {
        long number = NormChunk.NumberOf(NormChunk.WindowOf(id));
        if (number != _chunk)
        {
            Flush();
            Load(number);
        }

        Debug.Assert(_chunk == number && length >= 0, "the loaded chunk contains the entry");
        ref int slot = ref _lengths[(int)(id - (number * NormChunk.Entries))];
        int old = slot;
        slot = length;
        return old;
    }

    /// <summary>Writes the loaded chunk.</summary>
    public void Flush()
    {
        if (_chunk < 0)
            return;

        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, _chunk);
        int length = NormChunk.Encode(_lengths, _output);
        if (length == 0)
            _column.Delete(key);
        else
            _column.Put(key, _output.AsSpan(0, length));
        _chunk = -1;
    }

    private void Load(long number)
    {
        Debug.Assert(_chunk < 0, "the previous chunk is written");
        _chunk = number;
        Array.Clear(_lengths);
        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, _chunk);
        if (!_column.TryGet(key, out ReadOnlySpan<byte> bytes))
            return;

        for (int window = 0; window < NormChunk.Windows; window++)
        {
            var old = new NormChunk(bytes, window);
            Span<int> mine = _lengths.AsSpan(window << NormChunk.WindowBits, NormChunk.WindowEntries);
            for (int i = 0; i < old.Count; i++)
                mine[i] = old[i];
        }
    }
}
