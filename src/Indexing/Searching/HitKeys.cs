using System.Buffers;
using System.Diagnostics;

namespace Treepie.Indexing.Searching;

/// <summary>
/// The keys of hits that a walk meets beside them, so that they need not be looked up again. A hit may have none here.
/// </summary>
internal sealed class HitKeys
{
    /// <summary>Stands for the key of a hit that is not here.</summary>
    public const int None = -1;

    /// <summary>Number of entries of one sort value whose keys are kept: of more, most are no hits of the page.</summary>
    public const int MostOfGroup = 64;

    private const int FirstBytes = 256, MostKeptBytes = 16 * 1024, MostKeptPlaces = 1_024;

    private readonly List<int> _places = [];
    private byte[] _bytes = new byte[FirstBytes];
    private int _length;

    /// <summary>Number of hits.</summary>
    public int Count => _places.Count;

    /// <summary>Copies a key; returns its place, or <see cref="None"/> if it is empty.</summary>
    public int Keep(ReadOnlySpan<byte> key)
    {
        if (key.IsEmpty || key.Length > byte.MaxValue)
            return None;
        if (_bytes.Length - _length <= key.Length)
            Array.Resize(ref _bytes, 2 * (_length + key.Length + 1));
        int place = _length;
        _bytes[_length++] = (byte)key.Length;
        key.CopyTo(_bytes.AsSpan(_length));
        _length += key.Length;
        return place;
    }

    /// <summary>Adds the next hit.</summary>
    /// <param name="place">The place of its key, or <see cref="None"/>.</param>
    public void Add(int place) => _places.Add(place);

    /// <summary>Removes everything, and most memory.</summary>
    public void Clear()
    {
        _places.Clear();
        _length = 0;
        if (_bytes.Length > MostKeptBytes)
            _bytes = new byte[FirstBytes];
        if (_places.Capacity > MostKeptPlaces)
            _places.Capacity = 0;
    }

    /// <summary>
    /// Returns the keys of the hits from one on, each behind its length, which is 0 for a hit without one. Rented from the
    /// shared pool, to which the caller returns them; null if there are none.
    /// </summary>
    public byte[]? Rent(int from)
    {
        int bytes = 0, kept = 0;
        for (int i = from; i < _places.Count; i++)
        {
            int place = _places[i];
            kept += place == None ? 0 : 1;
            bytes += 1 + (place == None ? 0 : _bytes[place]);
        }

        if (kept == 0)
            return null;

        byte[] keys = ArrayPool<byte>.Shared.Rent(bytes);
        int at = 0;
        for (int i = from; i < _places.Count; i++)
        {
            int place = _places[i];
            if (place == None)
            {
                keys[at++] = 0;
                continue;
            }

            int length = 1 + _bytes[place];
            _bytes.AsSpan(place, length).CopyTo(keys.AsSpan(at));
            at += length;
        }

        Debug.Assert(at == bytes, "the keys have the length that was counted");
        return keys;
    }
}
