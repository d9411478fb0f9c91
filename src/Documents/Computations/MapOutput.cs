using System.Buffers;

namespace Treepie.Computations;

/// <summary>Takes JSON objects, one after the other, and keeps its memory for the next document. Not thread-safe.</summary>
internal sealed class MapOutput
{
    /// <summary>Most objects of one document.</summary>
    public const int MaxObjects = 32 * 1024;

    /// <summary>Most bytes of all objects of one document.</summary>
    public const int MaxBytes = 16 * 1024 * 1024;

    private const int KeptBytes = 1024 * 1024;

    private readonly List<int> _ends = [];
    private ArrayBufferWriter<byte> _buffer = new();

    /// <summary>Takes the bytes of the object that is being written.</summary>
    public IBufferWriter<byte> Buffer => _buffer;

    /// <summary>Bytes of all objects so far, and of the one that is being written.</summary>
    public long WrittenBytes => _buffer.WrittenCount;

    /// <summary>Objects so far.</summary>
    public int Count => _ends.Count;

    /// <summary>An object; valid until something is added or cleared.</summary>
    public ReadOnlyMemory<byte> this[int index] => _buffer.WrittenMemory[(index == 0 ? 0 : _ends[index - 1]).._ends[index]];

    /// <summary>Ends the object that was written into <see cref="Buffer"/>.</summary>
    /// <exception cref="ComputationException">It is one too many, or all are too long.</exception>
    public void EndObject()
    {
        if (_ends.Count == MaxObjects)
            throw new ComputationException($"the document gives more than {MaxObjects:N0} results.");
        if (_buffer.WrittenCount > MaxBytes)
            throw new ComputationException($"the results of the document have more than {MaxBytes >> 20} MiB.");
        _ends.Add(_buffer.WrittenCount);
    }

    /// <summary>Forgets all objects.</summary>
    public void Clear()
    {
        _ends.Clear();
        if (_buffer.Capacity > KeptBytes)
            _buffer = new ArrayBufferWriter<byte>();
        else
            _buffer.ResetWrittenCount();
    }
}
