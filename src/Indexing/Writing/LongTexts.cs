using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Writing;

/// <summary>Stores the whole texts of the cut terms of a field.</summary>
internal static class LongTexts
{
    /// <summary>Stores the whole texts of exactly those cut terms that are in the dictionary.</summary>
    public static void Apply(WriteTransaction transaction, int field, BatchField? added, BatchField? removed)
    {
        var terms = new TermTree(transaction.GetOrCreateTree(TreeNames.Terms(field)));
        if (removed is not null && transaction.FindTree(TreeNames.LongTexts(field)) is { } known)
        {
            for (int i = 0; i < removed.Terms.Count; i++)
            {
                ReadOnlySpan<byte> term = removed.Terms[i];
                if (TermForm.IsCut(term) && !terms.TryGet(term, out _))
                    known.Delete(TermForm.HashOf(term));
            }
        }

        if (added is not { LongTexts.Count: > 0 })
            return;

        Tree texts = transaction.GetOrCreateTree(TreeNames.LongTexts(field));
        foreach ((int ordinal, byte[] text) in added.LongTexts)
        {
            ReadOnlySpan<byte> term = added.Terms[ordinal];
            if (terms.TryGet(term, out _) && !texts.TryGet(TermForm.HashOf(term), out _))
                texts.Put(TermForm.HashOf(term), text);
        }
    }
}
