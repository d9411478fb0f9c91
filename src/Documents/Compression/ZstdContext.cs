using System.Runtime.InteropServices;

namespace Treepie.Compression;

/// <summary>A compression or decompression context of the library. Freed when it is disposed and no longer in use.</summary>
internal sealed class ZstdContext : SafeHandle
{
    private readonly ZstdLibrary _library;
    private readonly bool _compresses;

    public ZstdContext(nint address, ZstdLibrary library, bool compresses)
        : base(0, ownsHandle: true)
    {
        _library = library;
        _compresses = compresses;
        SetHandle(address);
        if (IsInvalid)
            throw new InsufficientMemoryException("zstd could not get memory for its state.");
    }

    public override bool IsInvalid => handle == 0;

    /// <summary>Its address. The caller must keep this object alive while using it. Not thread-safe.</summary>
    public nint Address
    {
        get
        {
            ObjectDisposedException.ThrowIf(IsClosed, this);
            return handle;
        }
    }

    protected override bool ReleaseHandle()
    {
        _library.Free(handle, _compresses);
        return true;
    }
}

/// <summary>What a compressor does in addition to consuming input.</summary>
internal enum ZstdOperation
{
    /// <summary>Nothing: it may buffer input.</summary>
    Continue = 0,

    /// <summary>Ends the frame.</summary>
    End = 2,
}
