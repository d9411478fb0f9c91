using System.Security.Cryptography;
using Treepie.Storage.Encryption;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Backups;

/// <summary>
/// Reads pages as a plain store has them, tag and incarnation 0 and the checksum right, wherever they are: in memory, in the
/// file, encrypted there. What comes from the file is proven anew. Nothing that is decrypted for it stays. For one thread at a
/// time, within one read transaction.
/// </summary>
internal sealed class PlainPages(PageStore store, StoreCipher? cipher) : IDisposable
{
    /// <summary>Brought into memory ahead of what is read: the system reads a stretch of it at once.</summary>
    private const int AheadPages = 64;

    private readonly PageCipher? _cipher = cipher?.NewPageCipher();
    private readonly byte[] _head = new byte[PageLayout.HeaderBytes];
    private byte[] _opened = [];
    private bool _isOpened;
    private long _ahead;
    private long _number;
    private uint _frame;
    private int _lengthBytes;

    /// <summary>Finds and proves a page, or the run it begins; returns its pages.</summary>
    /// <exception cref="CorruptionException">It is damaged.</exception>
    public int Find(long number)
    {
        if (number >= _ahead || number < _ahead - AheadPages)
        {
            store.LoadAhead(number, AheadPages);
            _ahead = number + AheadPages;
        }

        ReadOnlySpan<byte> stored = store.ReadStored(number, out _frame);
        _number = number;
        _isOpened = _frame == 0 && _cipher is not null;
        if (_isOpened)
            stored = Open(stored);
        stored[..PageLayout.HeaderBytes].CopyTo(_head);
        var page = new Page(_head);
        bool isRun = page.Type == PageType.Overflow;
        _lengthBytes = isRun ? PageLayout.HeaderBytes + page.ValueLength : PageLayout.SizeBytes;
        if (_frame != 0 || _isOpened)
        {
            page.Tag = 0;
            page.Incarnation = 0;
            page.Checksum = 0;
            page.Checksum = Page.ComputeChecksum(_head, stored[PageLayout.HeaderBytes.._lengthBytes]);
        }

        return isRun ? PageLayout.RunPages(page.ValueLength) : 1;
    }

    /// <summary>Copies pages of what was found last; the rest of the last page of a run is zeros.</summary>
    /// <param name="first">The first of them, counted from the first of the run.</param>
    /// <param name="destination">Whole pages.</param>
    public void Copy(int first, Span<byte> destination)
    {
        long offset = (long)first * PageLayout.SizeBytes;
        int length = (int)Math.Clamp(_lengthBytes - offset, 0, destination.Length);
        ReadOnlySpan<byte> source = _isOpened ? _opened : store.StoredBytes(_number, _frame, _lengthBytes);
        source.Slice((int)offset, length).CopyTo(destination);
        destination[length..].Clear();
        if (first == 0)
            _head.CopyTo(destination);
    }

    public void Dispose()
    {
        _cipher?.Dispose();
        CryptographicOperations.ZeroMemory(_opened);
    }

    private ReadOnlySpan<byte> Open(ReadOnlySpan<byte> sealedPages)
    {
        if (_opened.Length < sealedPages.Length)
        {
            CryptographicOperations.ZeroMemory(_opened);
            _opened = GC.AllocateUninitializedArray<byte>(sealedPages.Length);
        }

        Span<byte> plain = _opened.AsSpan(0, sealedPages.Length);
        if (!_cipher!.TryOpen(sealedPages, plain)) // Find looked
            throw store.Corrupt(_number, "it does not open with this environment's key");
        if (PageShape.FindFault(plain) is { } fault)
            throw store.Corrupt(_number, fault);
        return plain;
    }
}
