using System.Diagnostics.CodeAnalysis;

namespace Treepie.Storage.Kernels;

/// <summary>
/// The operations of <see cref="Blake3Kernel"/> on vectors of one width. They compile to the same code as the operators
/// themselves.
/// </summary>
internal unsafe interface IBlake3Lanes<TVector>
    where TVector : unmanaged
{
    /// <summary>Returns a vector with the number in every lane.</summary>
    static abstract TVector Broadcast(uint number);

    /// <summary>The numbers 0, 1, 2 and so on.</summary>
    static abstract TVector Indices { get; }

    /// <summary>Returns all ones in each lane that is less than the same lane of the other vector.</summary>
    static abstract TVector LessThan(TVector one, TVector other);

    static abstract TVector Add(TVector one, TVector other);

    static abstract TVector Subtract(TVector one, TVector other);

    static abstract TVector Xor(TVector one, TVector other);

    /// <summary>Returns the xor of both vectors, rotated right.</summary>
    static abstract TVector XorRotate(TVector one, TVector other, [ConstantExpected] byte bits);

    /// <summary>
    /// Reads a block of each input and transposes them: vector i receives word i of all inputs. Needs as many scratch
    /// vectors.
    /// </summary>
    static abstract void Transpose(byte* inputs, int inputBytes, TVector* message, TVector* scratch);
}
