using System.Diagnostics;
using System.Security.Cryptography;
using Treepie.Storage.Encryption;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;

namespace Treepie.Storage.Backups;

/// <summary>
/// Reads pages in their unencrypted form, with tag and incarnation 0 and a matching checksum, from memory or from the file,
/// where they may be encrypted. Pages from the file are verified again. No decrypted pages are kept in the page store. For
/// one thread at a time, within one read transaction.
/// </summary>
internal sealed class PlainPages(PageStore store, StoreCipher? cipher) : IDisposable
{
    /// <summary>The number of pages loaded ahead of the reader, so that the system reads them at once.</summary>
    private const int AheadPages = 64;

    private readonly PageCipher? _cipher = cipher?.NewPageCipher();
    private readonly byte[] _head = new byte[PageLayout.HeaderBytes];
    private byte[] _opened = [];
    private bool _isOpened;
    private long _ahead;
    private long _number;
    private uint _frame;
    private int _lengthBytes;

    /// <summary>Finds and verifies a page, or the run that starts at it. Returns its number of pages.</summary>
    /// <exception cref="CorruptionException">The page is damaged.</exception>
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

    /// <summary>Copies pages of the unit found last. The rest of the last page of a run is filled with zeros.</summary>
    /// <param name="first">The index of the first page to copy within the run.</param>
    /// <param name="destination">The destination, a multiple of the page size.</param>
    public void Copy(int first, Span<byte> destination)
    {
        Debug.Assert(destination.Length % PageLayout.SizeBytes == 0, "whole pages are copied");
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
        if (!_cipher!.TryOpen(sealedPages, plain)) // Find checked the cipher
            throw store.Corrupt(_number, "it does not open with this environment's key");
        if (PageShape.FindFault(plain) is { } fault)
            throw store.Corrupt(_number, fault);
        return plain;
    }
}
