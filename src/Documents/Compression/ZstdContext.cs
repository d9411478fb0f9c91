using System.Runtime.InteropServices;

namespace Treepie.Compression;

/// <summary>State of one compression or decompression inside the library; freed with its last user.</summary>
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

    /// <summary>Where it is. One caller at a time, who keeps it alive.</summary>
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

/// <summary>What is asked of a compressor beside taking input.</summary>
internal enum ZstdOperation
{
    /// <summary>Nothing: it keeps what it likes.</summary>
    Continue = 0,

    /// <summary>The end of the frame.</summary>
    End = 2,
}
