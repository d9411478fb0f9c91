using Treepie.Indexing.Kernels;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Vectors;

/// <summary>Validates vectors and computes the similarity of two vectors: a greater value is nearer.</summary>
internal static class Similarity
{
    /// <summary>Below this, sums of squares have lost digits to the smallest numbers that a float can hold.</summary>
    private const float LeastExactSquares = 1e-30f;

    /// <param name="left">The first vector.</param>
    /// <param name="leftSquares">Sum of its squares, computed once for all comparisons.</param>
    /// <param name="right">The second vector.</param>
    /// <param name="metric">The measure of similarity.</param>
    public static float Of(ReadOnlySpan<float> left, float leftSquares, ReadOnlySpan<float> right, VectorMetric metric)
    {
        switch (metric)
        {
            case VectorMetric.Cosine:
                float rightSquares = VectorKernels.Dot(right, right);
                return Math.Min(leftSquares, rightSquares) < LeastExactSquares
                    ? CosineOfShort(left, right)
                    : (float)Math.Clamp(VectorKernels.Dot(left, right) / Math.Sqrt((double)leftSquares * rightSquares), -1, 1);
            case VectorMetric.Dot:
                return VectorKernels.Dot(left, right);
            case VectorMetric.Hamming:
                int same = 0;
                for (int i = 0; i < left.Length; i++)
                    same += left[i] >= 0 == right[i] >= 0 ? 1 : 0;
                return (float)same / left.Length;
            default:
                return 1 / (1 + MathF.Sqrt(VectorKernels.SquaredDistance(left, right)));
        }
    }

    /// <summary>The cosine of vectors of which one is too short for sums in floats; 0 if it has no length at all.</summary>
    private static float CosineOfShort(ReadOnlySpan<float> left, ReadOnlySpan<float> right)
    {
        double product = 0, leftSquares = 0, rightSquares = 0;
        for (int i = 0; i < left.Length; i++)
        {
            product += (double)left[i] * right[i];
            leftSquares += (double)left[i] * left[i];
            rightSquares += (double)right[i] * right[i];
        }

        double lengths = Math.Sqrt(leftSquares) * Math.Sqrt(rightSquares);
        return lengths > 0 ? (float)Math.Clamp(product / lengths, -1, 1) : 0;
    }

    /// <summary>Rejects an invalid vector.</summary>
    /// <param name="vector">The vector.</param>
    /// <param name="dimensions">The required length; 0 for any.</param>
    /// <exception cref="InvalidVectorException">The vector is empty, has the wrong length, or contains a number that is not
    /// finite or whose absolute value exceeds 10¹⁵.</exception>
    public static void Check(ReadOnlySpan<float> vector, int dimensions)
    {
        const float Largest = 1e15f; // the sum of squares over all dimensions still fits into a float
        if (vector.IsEmpty)
            throw new InvalidVectorException("A vector has at least one number; this one is empty.");
        if (vector.Length > VectorFieldOptions.MaxDimensions)
            throw new InvalidVectorException(
                $"A vector has {VectorFieldOptions.MaxDimensions:N0} numbers at the most; this one has {vector.Length:N0}.");
        if (dimensions > 0 && vector.Length != dimensions)
            throw new InvalidVectorException($"Vectors of this field have {dimensions} numbers; this one has {vector.Length}.");
        for (int i = 0; i < vector.Length; i++)
        {
            if (!(Math.Abs(vector[i]) <= Largest))
                throw new InvalidVectorException(
                    $"A vector has finite numbers up to 1e15; number {i + 1} of this one is {vector[i]}.");
        }
    }
}
