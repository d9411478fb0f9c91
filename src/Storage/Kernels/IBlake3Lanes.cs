using System.Diagnostics.CodeAnalysis;

namespace Treepie.Storage.Kernels;

/// <summary>
/// What <see cref="Blake3Kernel"/> does to vectors of one width. The compiler makes of it what it would make of the operators
/// themselves.
/// </summary>
internal unsafe interface IBlake3Lanes<TVector>
    where TVector : unmanaged
{
    /// <summary>The number in every lane.</summary>
    static abstract TVector Broadcast(uint number);

    /// <summary>0, 1, 2 and so on.</summary>
    static abstract TVector Indices { get; }

    /// <summary>All ones where a lane is less than that of another.</summary>
    static abstract TVector LessThan(TVector one, TVector other);

    static abstract TVector Add(TVector one, TVector other);

    static abstract TVector Subtract(TVector one, TVector other);

    static abstract TVector Xor(TVector one, TVector other);

    /// <summary>Both together by bits, turned to the right.</summary>
    static abstract TVector XorRotate(TVector one, TVector other, [ConstantExpected] byte bits);

    /// <summary>Reads a block of each input; word i of all of them becomes vector i. As many vectors more are scratch.</summary>
    static abstract void Transpose(byte* inputs, int inputBytes, TVector* message, TVector* scratch);
}
