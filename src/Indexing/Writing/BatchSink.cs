using System.Diagnostics;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Adds the terms of a full-text value to a batch, in groups. Terms are spread over a hash table, so the memory of a whole
/// group is prefetched before the first term is looked up.
/// </summary>
internal sealed class BatchSink(IndexBatch batch) : TokenSink
{
    /// <summary>
    /// Terms per group. A processor fetches a dozen cache lines at once, and those of this many terms stay in the L1 cache.
    /// </summary>
    private const int MaxPending = 64;

    private readonly PendingTerm[] _pending = new PendingTerm[MaxPending];
    private readonly ByteArena _forms = new();
    private BatchField? _target;
    private int _field;
    private int _owner;
    private int _first;
    private int _pendingCount;

    /// <summary>A term that was not added to the batch yet.</summary>
    private readonly record struct PendingTerm(int Start, int Length, uint Hash, int Position);

    /// <summary>Number of terms of the value, counting repetitions.</summary>
    public int Count { get; private set; }

    public void Begin(BatchField newTarget, int newField, int newOwner)
    {
        _target = newTarget;
        _field = newField;
        _owner = newOwner;
        Count = 0;
        Forget();
        _first = newTarget.NextPosition.Owner == newOwner ? newTarget.NextPosition.Position : 0;
        Begin(_first);
    }

    /// <summary>Adds a term of a token list, whose positions start at 0.</summary>
    public void Add(TokenList.Token token)
    {
        Begin(_first + token.Position + 1);
        Accept(token.Form, _first + token.Position, token.Start, token.End);
    }

    /// <summary>Adds the pending terms. Must be called at the end of a value.</summary>
    public void Finish()
    {
        TermTable terms = _target!.Terms; // Begin sets it
        ReadOnlySpan<PendingTerm> all = _pending.AsSpan(0, _pendingCount);
        foreach (ref readonly PendingTerm term in all)
            terms.PrefetchTerm(term.Hash);
        foreach (ref readonly PendingTerm term in all)
            batch.AddWord(_target, _field, _owner, _forms.Slice(term.Start, term.Length), term.Hash, term.Position);
        Forget();
    }

    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end)
    {
        TermTable terms = _target!.Terms; // Begin sets it
        uint hash = terms.Hash(form);
        Debug.Assert(_pendingCount < MaxPending, "a full group is added at once");
        terms.Prefetch(hash);
        _pending[_pendingCount++] = new PendingTerm(_forms.Add(form), form.Length, hash, position);
        Count++;
        if (_pendingCount == MaxPending)
            Finish();
    }

    private void Forget()
    {
        _pendingCount = 0;
        _forms.Clear(MaxPending * TermForm.CutBytes);
    }
}
