namespace Treepie.Indexing.Vectors;

/// <summary>
/// The number of dimensions of each vector field of an index, shared by its writer and batches; 0 until it is determined. The
/// options or stored vectors determine it for good. The vectors of a batch that is not committed determine it for as long as a
/// batch has such vectors, because batches are filled before earlier ones are committed. Thread-safe.
/// </summary>
/// <param name="stored">The numbers that options or stored vectors have determined, by field; otherwise 0.</param>
internal sealed class FieldDimensions(int[] stored)
{
    private readonly Lock _lock = new();
    private readonly int[] _stored = stored;
    private readonly int[] _current = [.. stored];
    private readonly int[] _batches = new int[stored.Length];

    /// <summary>The number of dimensions of a field; 0 if it is not determined.</summary>
    public int this[int field] => Volatile.Read(ref _current[field]);

    /// <summary>Notes that a batch has vectors of a field.</summary>
    public void Hold(int field, int dimensions)
    {
        lock (_lock)
        {
            _batches[field]++;
            if (_current[field] == 0)
                Volatile.Write(ref _current[field], dimensions);
        }
    }

    /// <summary>Notes that a batch no longer has vectors of a field.</summary>
    public void Release(int field)
    {
        lock (_lock)
        {
            if (--_batches[field] == 0)
                Volatile.Write(ref _current[field], _stored[field]);
        }
    }

    /// <summary>Notes what the stored vectors of a field have determined; 0 if there have been none.</summary>
    public void Store(int field, int dimensions)
    {
        lock (_lock)
            _stored[field] = dimensions;
    }
}
