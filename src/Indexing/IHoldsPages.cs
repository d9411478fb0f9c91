namespace Treepie.Indexing;

/// <summary>What remembers where bytes of pages lie, which is good until its transaction ends or releases its pages.</summary>
internal interface IHoldsPages : IDisposable
{
    /// <summary>Forgets them; they are found again when they are asked for.</summary>
    void ForgetPages();
}
