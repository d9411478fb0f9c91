using System.Buffers;

namespace Treepie.Computations;

/// <summary>Receives JSON objects, one after the other. Its buffer is reused for the next document. Not thread-safe.</summary>
internal sealed class MapOutput
{
    /// <summary>The maximum number of objects of one document.</summary>
    public const int MaxObjects = 32 * 1024;

    /// <summary>The maximum size of all objects of one document, in bytes.</summary>
    public const int MaxBytes = 16 * 1024 * 1024;

    private const int KeptBytes = 1024 * 1024;

    private readonly List<int> _ends = [];
    private ArrayBufferWriter<byte> _buffer = new();

    /// <summary>The buffer for the current object.</summary>
    public IBufferWriter<byte> Buffer => _buffer;

    /// <summary>The size of all objects so far, including the current one, in bytes.</summary>
    public long WrittenBytes => _buffer.WrittenCount;

    /// <summary>The number of objects so far.</summary>
    public int Count => _ends.Count;

    /// <summary>Returns an object; valid until something is added or cleared.</summary>
    public ReadOnlyMemory<byte> this[int index] => _buffer.WrittenMemory[(index == 0 ? 0 : _ends[index - 1]).._ends[index]];

    /// <summary>Ends the object written into <see cref="Buffer"/>.</summary>
    /// <exception cref="ComputationException">The number or total size of the objects exceeds the limit.</exception>
    public void EndObject()
    {
        if (_ends.Count == MaxObjects)
            throw new ComputationException($"the document gives more than {MaxObjects:N0} results.");
        if (_buffer.WrittenCount > MaxBytes)
            throw new ComputationException($"the results of the document have more than {MaxBytes >> 20} MiB.");
        _ends.Add(_buffer.WrittenCount);
    }

    /// <summary>Removes all but the first objects, and what was written of the current one.</summary>
    public void KeepFirst(int count)
    {
        _ends.RemoveRange(count, _ends.Count - count);
        int length = count == 0 ? 0 : _ends[^1];
        _buffer.ResetWrittenCount();
        _buffer.Advance(length);
    }

    /// <summary>Removes all objects.</summary>
    public void Clear()
    {
        _ends.Clear();
        if (_buffer.Capacity > KeptBytes)
            _buffer = new ArrayBufferWriter<byte>();
        else
            _buffer.ResetWrittenCount();
    }
}
