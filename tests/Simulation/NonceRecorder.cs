using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Simulation;

/// <summary>
/// Sees all that is encrypted in the life of an environment, across reopenings, crashes and copies of its directory, and notes
/// where a nonce is used a second time under a key for something else: two such ciphertexts give away what they hide.
/// Thread-safe. What it keeps is bounded: the pairs of the last <see cref="MaxPairs"/> seals at least.
/// </summary>
internal sealed class NonceRecorder
{
    /// <summary>16 bytes and the room of a dictionary's entry for each: 2 × 6 MB at most.</summary>
    private const int MaxPairs = 1 << 17;

    private readonly Lock _lock = new();
    private Dictionary<ulong, ulong> _newer = [];
    private Dictionary<ulong, ulong> _older = [];

    /// <summary>How the first pair repeated, or null.</summary>
    public string? Failure { get; private set; }

    /// <summary>Seals seen.</summary>
    public long Seals { get; private set; }

    /// <summary>What worlds take as their observer.</summary>
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
