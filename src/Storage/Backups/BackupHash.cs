using System.Security.Cryptography;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>
/// The hash of a backup part, or of the contents of a database: BLAKE3, which costs less than half of SHA-256 on processors with
/// wide vectors (<c>docs/decisions/0018-backups-are-hashed-with-blake3.md</c>). SHA-256 hashes of older backups can still be
/// verified. Not thread-safe.
/// </summary>
public sealed class BackupHash : IDisposable
{
    private readonly Blake3? _blake3;
    private readonly IncrementalHash? _sha256;

    /// <summary>Creates an empty hash.</summary>
    public BackupHash(BackupHashKind kind = BackupHashKind.Blake3)
    {
        if (kind == BackupHashKind.Blake3)
            _blake3 = new Blake3();
        else
            _sha256 = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    }

    /// <summary>Appends bytes.</summary>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (_blake3 is not null)
            _blake3.Append(bytes);
        else
            _sha256!.AppendData(bytes); // one of the two is set
    }

    /// <summary>Returns the hash of everything appended so far: 32 bytes.</summary>
    public byte[] GetCurrentHash() => _blake3?.GetCurrentHash() ?? _sha256!.GetCurrentHash(); // one of the two is set

    /// <summary>Returns the hash of everything appended since the last reset, and resets it.</summary>
    public byte[] GetHashAndReset()
    {
        if (_blake3 is null)
            return _sha256!.GetHashAndReset(); // one of the two is set
        byte[] hash = _blake3.GetCurrentHash();
        _blake3.Reset();
        return hash;
    }

    /// <summary>Zeroes the internal state, since secret data may have been hashed.</summary>
    public void Dispose()
    {
        _blake3?.Dispose();
        _sha256?.Dispose();
    }
}

/// <summary>The hash algorithms of backups.</summary>
public enum BackupHashKind
{
    /// <summary>BLAKE3, used for new backups.</summary>
    Blake3,

    /// <summary>SHA-256, supported for reading older backups.</summary>
    Sha256,
}
