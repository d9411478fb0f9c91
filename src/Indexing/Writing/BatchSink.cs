using Treepie.Indexing.Analysis;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Takes the terms of a full-text value into a batch, some at a time: what the batch knows of them lies all over a table, and the
/// memory of all of them is asked for before the first is waited for.
/// </summary>
internal sealed class BatchSink(IndexBatch batch) : TokenSink
{
    /// <summary>
    /// Terms that wait: a processor asks for a dozen lines of memory at once, and those of so many stay in the nearest cache.
    /// </summary>
    private const int MostWaiting = 64;

    private readonly Waiting[] waiting = new Waiting[MostWaiting];
    private readonly ByteArena forms = new();
    private BatchField? target;
    private int field;
    private int owner;
    private int first;
    private int waitingCount;

    /// <summary>A term that is not in the batch yet.</summary>
    private readonly record struct Waiting(int Start, int Length, uint Hash, int Position);

    /// <summary>Terms of the value, repetitions counted.</summary>
    public int Count { get; private set; }

    public void Begin(BatchField newTarget, int newField, int newOwner)
    {
        target = newTarget;
        field = newField;
        owner = newOwner;
        Count = 0;
        Forget();
        first = newTarget.NextPosition.Owner == newOwner ? newTarget.NextPosition.Position : 0;
        Begin(first);
    }

    /// <summary>Takes a term of a list that began at position 0.</summary>
    public void Add(TokenList.Token token)
    {
        Begin(first + token.Position + 1);
        Accept(token.Form, first + token.Position, token.Start, token.End);
    }

    /// <summary>Takes what is still waiting: the value has no more terms.</summary>
    public void Finish()
    {
        TermTable terms = target!.Terms; // begun before
        ReadOnlySpan<Waiting> all = waiting.AsSpan(0, waitingCount);
        foreach (ref readonly Waiting term in all)
            terms.PrefetchTerm(term.Hash);
        foreach (ref readonly Waiting term in all)
            batch.AddWord(target, field, owner, forms.Slice(term.Start, term.Length), term.Hash, term.Position);
        Forget();
    }

    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end)
    {
        uint hash = TermTable.Hash(form);
        target!.Terms.Prefetch(hash); // begun before terms come
        waiting[waitingCount++] = new Waiting(forms.Add(form), form.Length, hash, position);
        Count++;
        if (waitingCount == MostWaiting)
            Finish();
    }

    private void Forget()
    {
        waitingCount = 0;
        forms.Clear(MostWaiting * TermForm.CutBytes);
    }
}
