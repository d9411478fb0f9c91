using System.Security.Cryptography;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>
/// The hash of a part of a backup, or of the content of a database: BLAKE3, which costs less than half of what SHA-256 does where
/// there are wide vectors (<c>docs/decisions/0018-backups-are-hashed-with-blake3.md</c>). What was hashed with SHA-256 before can
/// still be compared. One caller at a time.
/// </summary>
public sealed class BackupHash : IDisposable
{
    private readonly Blake3? _blake3;
    private readonly IncrementalHash? _sha256;

    /// <summary>Of nothing yet.</summary>
    public BackupHash(BackupHashKind kind = BackupHashKind.Blake3)
    {
        if (kind == BackupHashKind.Blake3)
            _blake3 = new Blake3();
        else
            _sha256 = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    }

    /// <summary>Adds bytes.</summary>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (_blake3 is not null)
            _blake3.Append(bytes);
        else
            _sha256!.AppendData(bytes); // one of the two is there
    }

    /// <summary>The hash of all that was added so far: 32 bytes.</summary>
    public byte[] GetCurrentHash() => _blake3?.GetCurrentHash() ?? _sha256!.GetCurrentHash(); // one of the two is there

    /// <summary>The hash of all that was added since the last of these.</summary>
    public byte[] GetHashAndReset()
    {
        if (_blake3 is null)
            return _sha256!.GetHashAndReset(); // one of the two is there
        byte[] hash = _blake3.GetCurrentHash();
        _blake3.Reset();
        return hash;
    }

    /// <summary>Zeroes what is in it: what is secret may have gone through it.</summary>
    public void Dispose()
    {
        _blake3?.Dispose();
        _sha256?.Dispose();
    }
}

/// <summary>How backups are hashed.</summary>
public enum BackupHashKind
{
    /// <summary>What is written.</summary>
    Blake3,

    /// <summary>What was written first, and is read.</summary>
    Sha256,
}
