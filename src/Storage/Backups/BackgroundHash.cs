using System.Security.Cryptography;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Backups;

/// <summary>
/// SHA-256 of a stream, taken by a quiet thread of its own while the next bytes are made: hashing is the dearest of what a backup does beside compressing, and whoever makes the bytes need not wait for it. No thread of the
/// pool, which others wait for. Memory: two buffers of 256 KiB where bytes are copied. One caller at a time.
/// </summary>
public sealed class BackgroundHash : IDisposable
{
    /// <summary>Bytes handed over at once: a fifth of a millisecond of hashing, which is many times what handing over costs.</summary>
    private const int BufferBytes = 256 * 1024;

    /// <summary>What the first buffer has room for, before it is known that there is more.</summary>
    private const int FirstBytes = 8 * 1024;

    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly object _handing = new();
    private byte[] _filling = new byte[FirstBytes];
    private byte[] _other = [];
    private int _filled;
    private bool _isBegun;
    private ReadOnlyMemory<byte> _work;
    private bool _isAtWork;
    private bool _isOver;
    private bool _isEnded;

    /// <summary>Adds bytes; they are copied. Waits where hashing is slower than who makes them.</summary>
    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > _filling.Length - _filled && _filling.Length < BufferBytes)
            Grow();
        while (bytes.Length > BufferBytes - _filled)
        {
            int taken = BufferBytes - _filled;
            bytes[..taken].CopyTo(_filling.AsSpan(_filled));
            _filled = 0;
            Begin(_filling);
            if (_other.Length == 0)
                _other = GC.AllocateUninitializedArray<byte>(BufferBytes);
            (_filling, _other) = (_other, _filling);
            bytes = bytes[taken..];
        }

        bytes.CopyTo(_filling.AsSpan(_filled));
        _filled += bytes.Length;
    }

    /// <summary>Has bytes hashed that stay as they are until the next call of any member returns; waits for those before them.</summary>
    public void Begin(ReadOnlyMemory<byte> bytes)
    {
        lock (_handing)
        {
            WaitUntilIdle();
            (_work, _isAtWork) = (bytes, true);
            Monitor.PulseAll(_handing);
        }

        if (_isBegun)
            return;
        _isBegun = true;
        QuietThread.Start(Run, QuietThread.Steady);
    }

    /// <summary>The hash of all that was added so far.</summary>
    public byte[] GetCurrentHash()
    {
        Wait();
        _hash.AppendData(_filling.AsSpan(0, _filled)); // what is short is hashed here
        _filled = 0;
        return _hash.GetCurrentHash();
    }

    /// <summary>The hash of all that was added since the last of these.</summary>
    public byte[] GetHashAndReset()
    {
        byte[] hash = GetCurrentHash();
        _hash.GetHashAndReset();
        return hash;
    }

    /// <summary>Waits for what is under way, and zeroes the buffers: what is secret may have gone through them.</summary>
    public void Dispose()
    {
        lock (_handing)
        {
            WaitUntilIdle();
            _isOver = true;
            Monitor.PulseAll(_handing);
            while (_isBegun && !_isEnded)
                Monitor.Wait(_handing);
        }

        _hash.Dispose();
        CryptographicOperations.ZeroMemory(_filling);
        CryptographicOperations.ZeroMemory(_other);
    }

    private void Grow()
    {
        byte[] larger = GC.AllocateUninitializedArray<byte>(BufferBytes);
        _filling.AsSpan(0, _filled).CopyTo(larger);
        CryptographicOperations.ZeroMemory(_filling);
        _filling = larger;
    }

    private void Wait()
    {
        lock (_handing)
            WaitUntilIdle();
    }

    private void WaitUntilIdle()
    {
        while (_isAtWork)
            Monitor.Wait(_handing);
    }

    private void Run()
    {
        while (true)
        {
            lock (_handing)
            {
                while (!_isAtWork && !_isOver)
                    Monitor.Wait(_handing);
                if (_isOver)
                {
                    _isEnded = true;
                    Monitor.PulseAll(_handing);
                    return;
                }
            }

            _hash.AppendData(_work.Span);
            lock (_handing)
            {
                (_work, _isAtWork) = (default, false);
                Monitor.PulseAll(_handing);
            }
        }
    }
}
