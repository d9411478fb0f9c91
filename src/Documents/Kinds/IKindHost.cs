using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>What a command beside documents may do inside the transaction it runs in.</summary>
internal interface IKindHost
{
    /// <summary>The values of all kinds.</summary>
    KindWriter Kinds { get; }

    /// <summary>When the batch is written (UTC ticks).</summary>
    long NowTicks { get; }

    ChangeVectors ChangeVectors { get; }

    /// <summary>The etag of the change that is made next; each call gives another.</summary>
    long NextEtag();

    /// <summary>The document of a folded id, until the next change.</summary>
    bool TryGet(scoped ReadOnlySpan<byte> foldedId, out DocumentRecord record);

    /// <summary>The names of what a document has beside its body are others now: gives it a new etag, and its flags.</summary>
    void Touch(ReadOnlySpan<byte> foldedId);

    /// <summary>As <see cref="Touch"/>, but without a revision: the document's last revisions were just deleted.</summary>
    void TouchUnrevised(ReadOnlySpan<byte> foldedId);

    /// <summary>As <see cref="Touch"/>, with a revision of it whatever is configured.</summary>
    void AddRevision(ReadOnlySpan<byte> foldedId);
}
