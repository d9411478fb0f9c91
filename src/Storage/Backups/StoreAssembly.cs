using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>
/// Assembles the state of one store from the parts of a chain, newest first. The first copy of each live page is the right
/// one, so each page is verified and written once. Without a target nothing is written but everything is verified. Memory: a
/// frame, three bits per page, and the longest value.
/// </summary>
internal sealed class StoreAssembly : IDisposable
{
    private readonly EnvironmentRestore? _target;
    private readonly StoreRecord _newest;
    private readonly PageBits _live;
    private readonly PageBits _reserved;
    private readonly PageBits _seen;
    private readonly PageProof _proof;
    private readonly string _part;
    private StoreRecord _record;
    private byte[] _run = [];
    private long _runFirst;
    private int _runPages;
    private int _runFilled;
    private long _pagesHere;
    private bool _isFirst = true;

    public StoreAssembly(StoreRecord newest, string part, EnvironmentRestore? target)
    {
        _newest = _record = newest;
        _part = part;
        _target = target;
        _target?.Grow(newest.PageCount); // fail before reading anything if there is not enough space
        _live = new PageBits(newest.PageCount);
        _reserved = new PageBits(newest.PageCount);
        _seen = new PageBits(newest.PageCount);
        _proof = new PageProof(newest.PageCount, countsKeys: newest.NamedSnapshots == 0);
        _proof.Root(newest.Catalogue);
        _proof.Root(newest.System);
    }

    /// <summary>The record of the state being assembled.</summary>
    public StoreRecord Record => _newest;

    /// <summary>The restore target, or null.</summary>
    public EnvironmentRestore? Target => _target;

    /// <summary>The commit up to which older parts must provide the remaining pages, or -1 if all are there.</summary>
    public long Missing => _record.Since;

    /// <summary>The number of pages of the state read so far.</summary>
    public long PagesSeen => _seen.Count;

    /// <summary>Returns the pages in use once all are there: those of the state and the reserved ones. Call it once.</summary>
    public PageBits InUse()
    {
        for (long page = _reserved.Next(0); page >= 0; page = _reserved.Next(page + 1))
            _live.Add(page);
        return _live;
    }

    /// <summary>Continues with an older part.</summary>
    public void Continue(StoreRecord record, BackupPartReader part)
    {
        if (record.StoreId != _newest.StoreId)
            throw new BackupPartException(
                BackupPartFault.Foreign,
                $"'{part.Name}' holds another store named '{record.Name}' ({record.StoreId}) than '{_part}' ({_newest.StoreId}). "
                    + $"Give the parts of one chain.");
        if (record.Commit != _record.Since)
            throw new BackupPartException(
                BackupPartFault.LinkMissing,
                $"'{_part}' continues from commit {_record.Since} of '{record.Name}', but '{part.Name}', the part before it, is "
                    + $"of commit {record.Commit}. A part between them is missing.");
        _record = record;
        _isFirst = false;
    }

    /// <summary>Reads the set of live pages. Ignored in older parts.</summary>
    public void Live(BackupPartReader part)
    {
        ReadOnlySpan<byte> content = part.Content;
        if (_isFirst
            && (content.Length < sizeof(long)
                || !_live.TryLoad(BinaryPrimitives.ReadInt64LittleEndian(content), content[sizeof(long)..])))
            throw part.Inconsistent($"the pages of '{_newest.Name}' are beyond its end");
    }

    /// <summary>Reads the reserved pages, which are in use but not part of the state. Ignored in older parts.</summary>
    public void Reserved(BackupPartReader part)
    {
        const int RunBytes = sizeof(long) + sizeof(int);
        for (ReadOnlySpan<byte> rest = part.Content; _isFirst && rest.Length >= RunBytes; rest = rest[RunBytes..])
        {
            long first = BinaryPrimitives.ReadInt64LittleEndian(rest);
            int pages = BinaryPrimitives.ReadInt32LittleEndian(rest[sizeof(long)..]);
            if (first < FormatLimits.FirstDataPage || pages < 1 || first > _newest.PageCount - pages)
                throw part.Inconsistent($"{pages} pages from {first} on are beyond the end of '{_newest.Name}'");
            _reserved.Add(new PageRun(first, pages));
        }
    }

    /// <summary>Reads pages.</summary>
    public void Pages(BackupPartReader part)
    {
        for (Span<byte> rest = part.Content; !rest.IsEmpty;)
        {
            long first = rest.Length < PartFormat.StretchBytes ? -1 : BinaryPrimitives.ReadInt64LittleEndian(rest);
            int pages = first < 0 ? 0 : BinaryPrimitives.ReadInt32LittleEndian(rest[sizeof(long)..]);
            if (first < FormatLimits.FirstDataPage
                || pages < 1
                || first > _record.PageCount - pages
                || (long)pages * PageLayout.SizeBytes > rest.Length - PartFormat.StretchBytes)
                throw part.Inconsistent($"{pages} pages from {first} on are in a frame of '{_record.Name}'");

            rest = rest[PartFormat.StretchBytes..];
            for (int i = 0; i < pages; i++, rest = rest[PageLayout.SizeBytes..])
                Page(first + i, rest[..PageLayout.SizeBytes], part);
        }
    }

    /// <summary>Called at the end of the store in a part. Verifies the number of pages.</summary>
    public void End(BackupPartReader part)
    {
        if (_runFilled < _runPages)
            throw part.Inconsistent($"it ends within the value at page {_runFirst} of '{_record.Name}'");
        if (_pagesHere != _record.PagesHere
            || part.Content.Length != sizeof(long)
            || BinaryPrimitives.ReadInt64LittleEndian(part.Content) != _pagesHere)
            throw part.Inconsistent(
                $"its record says {_record.PagesHere:N0} pages of '{_record.Name}', but it has {_pagesHere:N0}");
        _pagesHere = 0;
    }

    /// <summary>Verifies the whole state after all parts have been read.</summary>
    public void Prove()
    {
        string? fault = _live.Count != _newest.LivePages || _seen.Count != _live.Count
            ? FormattableString.Invariant(
                $"'{_newest.Name}' has {_newest.LivePages:N0} pages, and {_seen.Count:N0} of {_live.Count:N0} are there")
            : _proof.FindFault() is { } what ? $"of '{_newest.Name}', {what}" : null;
        if (fault is not null)
            throw new BackupPartException(
                BackupPartFault.Inconsistent,
                $"'{_part}', with the parts before it, is inconsistent: {fault}. Take another backup.");
    }

    public void Dispose() => CryptographicOperations.ZeroMemory(_run);

    private void Page(long number, Span<byte> bytes, BackupPartReader part)
    {
        _pagesHere++;
        if (_runFilled < _runPages)
        {
            if (number != _runFirst + _runFilled)
                throw part.Inconsistent($"page {number} is inside the value at page {_runFirst} of '{_record.Name}'");
            AddToRun(bytes, part);
            return;
        }

        var page = new Page(bytes);
        if (page.Number != number)
            throw part.Inconsistent($"page {page.Number} of '{_record.Name}' is in the place of page {number}");
        int pages = 1;
        if (page.Type == PageType.Overflow)
        {
            int length = page.ValueLength;
            pages = length is < 0 or > FormatLimits.MaxValueBytes ? 0 : PageLayout.RunPages(length);
            if (pages == 0 || number > _record.PageCount - pages)
                throw part.Inconsistent($"the value at page {number} of '{_record.Name}' has {length} bytes");
        }

        if (pages == 1)
        {
            Unit(number, bytes, part);
            return;
        }

        (_runFirst, _runPages, _runFilled) = (number, pages, 0);
        AddToRun(bytes, part);
    }

    /// <summary>
    /// Adds a page to the current run. The buffer grows with the pages received, not with the length that a page claims.
    /// </summary>
    private void AddToRun(Span<byte> bytes, BackupPartReader part)
    {
        Debug.Assert(_runFilled < _runPages, "a run takes no more pages than it has");
        long needed = (_runFilled + 1L) * PageLayout.SizeBytes;
        if (_run.Length < needed)
        {
            var larger = new byte[(int)Math.Min(
                Math.Max(needed, 2L * _run.Length), Math.Min((long)_runPages * PageLayout.SizeBytes, Array.MaxLength))];
            _run.AsSpan(0, _runFilled * PageLayout.SizeBytes).CopyTo(larger);
            CryptographicOperations.ZeroMemory(_run);
            _run = larger;
        }

        bytes.CopyTo(_run.AsSpan(_runFilled * PageLayout.SizeBytes));
        if (++_runFilled == _runPages)
            Unit(_runFirst, _run.AsSpan(0, _runPages * PageLayout.SizeBytes), part);
    }

    /// <summary>Verifies a page or whole run, and keeps it if it is live and no newer part had it.</summary>
    private void Unit(long number, Span<byte> unit, BackupPartReader part)
    {
        Debug.Assert(unit.Length > 0 && unit.Length % PageLayout.SizeBytes == 0, "a unit is whole pages");
        var page = new Page(unit);
        ReadOnlySpan<byte> covered = page.Type == PageType.Overflow ? unit[..(PageLayout.HeaderBytes + page.ValueLength)] : unit;
        if (page.Checksum != Format.Page.ComputeChecksum(covered))
            throw part.Inconsistent($"page {number} of '{_record.Name}' has a checksum that does not match its content");
        if (page.Birth > _record.Commit || page.Birth <= _record.Since || PageShape.FindFault(unit) is not null)
            throw part.Inconsistent(
                $"page {number} of '{_record.Name}', born in transaction {page.Birth}, cannot have changed between the "
                    + $"commits {_record.Since} and {_record.Commit}");

        if (!_live.Contains(number) || _seen.Contains(number))
            return;

        _seen.Add(new PageRun(number, unit.Length / PageLayout.SizeBytes));
        _proof.Page(unit);
        _target?.Write(number, unit);
    }
}
