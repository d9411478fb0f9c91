using Treepie.Indexing.Analysis;

namespace Treepie.Indexing.Writing;

/// <summary>Takes the terms of a full-text value into a batch.</summary>
internal sealed class BatchSink(IndexBatch batch) : TokenSink
{
    private BatchField? target;
    private int field;
    private int owner;
    private int first;

    /// <summary>Terms of the value, repetitions counted.</summary>
    public int Count { get; private set; }

    public void Begin(BatchField newTarget, int newField, int newOwner)
    {
        target = newTarget;
        field = newField;
        owner = newOwner;
        Count = 0;
        first = newTarget.NextPosition.Owner == newOwner ? newTarget.NextPosition.Position : 0;
        Begin(first);
    }

    /// <summary>Takes a term of a list that began at position 0.</summary>
    public void Add(TokenList.Token token)
    {
        Begin(first + token.Position + 1);
        Accept(token.Form, first + token.Position, token.Start, token.End);
    }

    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end)
    {
        batch.AddWord(target!, field, owner, form, position); // begun before terms come
        Count++;
    }
}
