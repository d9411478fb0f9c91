namespace Treepie.Bench.Embedded;

/// <summary>
/// A database in this process that keeps orders as objects. All do the same work, and what they give is compared.
/// </summary>
internal interface IEmbeddedEngine : IDisposable
{
    string Name { get; }

    /// <summary>Stores orders, durable when it returns.</summary>
    void Fill(int from, int count);

    /// <summary>Makes what the questions need, and waits for it.</summary>
    void Index();

    BenchOrder Load(int id);

    BenchOrder ByCode(string code);

    /// <summary>The 20 orders of least freight.</summary>
    List<BenchOrder> Cheapest();

    /// <summary>Loads an order, changes it and saves it, durable when it returns.</summary>
    void Change(int id);
}
