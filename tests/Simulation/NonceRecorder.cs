using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Simulation;

/// <summary>
/// Observes all encryption in the life of an environment, across reopenings, crashes and copies of its directory, and
/// records the first nonce that is reused under the same key for other data, since two such ciphertexts reveal their
/// content. Thread-safe. Uses bounded memory: remembers at least the last <see cref="MaxPairs"/> seals.
/// </summary>
internal sealed class NonceRecorder
{
    /// <summary>Each pair takes 16 bytes plus the overhead of a dictionary entry: at most 2 × 6 MB.</summary>
    private const int MaxPairs = 1 << 17;

    private readonly Lock _lock = new();
    private Dictionary<ulong, ulong> _newer = [];
    private Dictionary<ulong, ulong> _older = [];

    /// <summary>Description of the first repeated pair, or null.</summary>
    public string? Failure { get; private set; }

    /// <summary>Number of seals observed.</summary>
    public long Seals { get; private set; }

    /// <summary>The observer to pass to a world.</summary>
    public SealObserver Observer => Observe;

    private void Observe(
        ReadOnlySpan<byte> key, ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, ReadOnlySpan<byte> plain)
    {
        Span<byte> pair = stackalloc byte[key.Length + nonce.Length];
        key.CopyTo(pair);
        nonce.CopyTo(pair[key.Length..]);
        ulong place = FrameHash.Compute(pair);
        Span<byte> parts = stackalloc byte[3 * sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(parts, FrameHash.Compute(associated));
        BinaryPrimitives.WriteUInt64LittleEndian(parts[sizeof(ulong)..], FrameHash.Compute(plain));
        BinaryPrimitives.WriteInt32LittleEndian(parts[(2 * sizeof(ulong))..], associated.Length);
        BinaryPrimitives.WriteInt32LittleEndian(parts[((2 * sizeof(ulong)) + sizeof(int))..], plain.Length);
        ulong content = FrameHash.Compute(parts);
        lock (_lock)
        {
            Seals++;
            if (_newer.TryGetValue(place, out ulong before) || _older.TryGetValue(place, out before))
            {
                if (before != content)
                    Failure ??=
                        $"Nonce {Convert.ToHexString(nonce)} was used twice under one key, for different things (the second of "
                            + $"{plain.Length} bytes, with {associated.Length} beside them).";
                return;
            }

            if (_newer.Count == MaxPairs)
            {
                _older = _newer;
                _newer = new Dictionary<ulong, ulong>(MaxPairs);
            }

            _newer.Add(place, content);
        }
    }
}
