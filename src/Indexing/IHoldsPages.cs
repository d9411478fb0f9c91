namespace Treepie.Indexing;

/// <summary>An object with pointers to bytes of pages, valid until its transaction ends or releases its pages.</summary>
internal interface IHoldsPages : IDisposable
{
    /// <summary>Drops the pointers. They are looked up again when needed.</summary>
    void ForgetPages();
}
