using Treepie.Indexing.Kernels;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Vectors;

/// <summary>Similarities of vectors and distances of their nodes, against sums in doubles.</summary>
public sealed class SimilarityTests
{
    public static TheoryData<VectorMetric> Metrics => [.. Enum.GetValues<VectorMetric>()];

    /// <summary>The smallest vectors consist of numbers whose squares no float can hold.</summary>
    [Theory]
    [InlineData(1e-42f)]
    [InlineData(1e-30f)]
    [InlineData(1e-20f)]
    [InlineData(1e-16f)]
    [InlineData(1f)]
    [InlineData(9e14f)]
    public void A_cosine_does_not_depend_on_lengths(float length)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 200; round++)
        {
            int dimensions = random.Next(1, 70);
            float[] left = Draw(random, dimensions, length), right = Draw(random, dimensions, round % 2 == 0 ? length : 1);
            float found = Similarity.Of(left, VectorKernels.Dot(left, left), right, VectorMetric.Cosine);
            Assert.Equal(Expected(left, right, VectorMetric.Cosine), found, 1e-5);
            Similarity.Check(left, dimensions);
        }
    }

    [Theory]
    [MemberData(nameof(Metrics))]
    public void A_similarity_is_that_of_its_formula(VectorMetric metric)
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 300; round++)
        {
            int dimensions = random.Next(1, 70);
            float[] left = Draw(random, dimensions, 1), right = round % 10 == 0 ? left : Draw(random, dimensions, 1);
            float found = Similarity.Of(left, VectorKernels.Dot(left, left), right, metric);
            Assert.Equal(Expected(left, right, metric), found, 1e-4);
        }
    }

    [Fact]
    public void A_vector_without_length_has_no_direction_and_zeros_of_both_signs_are_equal()
    {
        float[] none = [0, -0f, 0], some = [1, 2, 3], minus = [-0f, 0, -0f];
        Assert.Equal(0, Similarity.Of(none, 0, some, VectorMetric.Cosine));
        Assert.Equal(0, Similarity.Of(some, 14, none, VectorMetric.Cosine));
        Assert.Equal(1, Similarity.Of(none, 0, minus, VectorMetric.Hamming));
        Assert.Equal(1, Similarity.Of(none, 0, minus, VectorMetric.Euclidean));
        VectorNode node = Node(none, VectorMetric.Hamming);
        Assert.Equal(0, VectorNode.Distance(node, Node(minus, VectorMetric.Hamming), VectorMetric.Hamming));
    }

    [Theory]
    [InlineData(float.NaN, false)]
    [InlineData(float.PositiveInfinity, false)]
    [InlineData(float.NegativeInfinity, false)]
    [InlineData(1.0000001e15f, false)]
    [InlineData(-1e15f, true)]
    [InlineData(1e15f, true)]
    [InlineData(float.Epsilon, true)]
    public void Numbers_that_sums_could_not_hold_are_refused_with_their_place(float number, bool isAccepted)
    {
        float[] vector = [.. Enumerable.Repeat(1e15f, VectorFieldOptions.MaxDimensions - 1), number];
        Exception? error = Record.Exception(() => Similarity.Check(vector, 0));
        Assert.Equal(isAccepted, error is null);
        if (error is not null)
            Assert.StartsWith(
                "A vector has finite numbers up to 1e15; number 4096 of this one is ",
                Assert.IsType<InvalidVectorException>(error).Message, StringComparison.Ordinal);
        else
            Assert.True(float.IsFinite(VectorKernels.Dot(vector, vector)));
    }

    /// <summary>Nodes approximate vectors; their distance is exactly that of what they stand for, up to rounding.</summary>
    [Theory]
    [MemberData(nameof(Metrics))]
    public void The_distance_of_nodes_is_that_of_the_numbers_they_stand_for(VectorMetric metric)
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 300; round++)
        {
            int dimensions = random.Next(1, 140);
            float[] left = Draw(random, dimensions, 1), right = Draw(random, dimensions, 1);
            VectorNode first = Node(left, metric), second = Node(right, metric);
            float[] one = new float[dimensions], two = new float[dimensions];
            first.CopyTo(one, metric);
            second.CopyTo(two, metric);
            double largest = left.Max(Math.Abs), length = Math.Sqrt(left.Sum(static number => (double)number * number));
            for (int i = 0; i < dimensions; i++)
            {
                if (metric == VectorMetric.Hamming)
                    Assert.Equal(left[i] >= 0 ? 1 : -1, one[i]);
                else
                    Assert.Equal(left[i] / (metric == VectorMetric.Cosine ? length : 1), one[i], largest / 250);
            }

            double dot = one.Zip(two, static (x, y) => (double)x * y).Sum();
            double expected = metric switch
            {
                VectorMetric.Cosine => 1 - dot,
                VectorMetric.Dot => -dot,
                VectorMetric.Hamming => one.Zip(two).Count(static pair => pair.First != pair.Second),
                _ => one.Zip(two, static (x, y) => (double)(x - y) * (x - y)).Sum(),
            };
            Assert.Equal(expected, VectorNode.Distance(first, second, metric), 1e-3);
            Assert.True(first.HasVectorOf(Node(left, metric)));
        }
    }

    private static VectorNode Node(float[] vector, VectorMetric metric) => new(VectorNode.Encode(7, vector, metric));

    private static double Expected(float[] left, float[] right, VectorMetric metric)
    {
        double dot = left.Zip(right, static (x, y) => (double)x * y).Sum();
        return metric switch
        {
            VectorMetric.Cosine => dot / Math.Sqrt(left.Sum(static x => (double)x * x))
                / Math.Sqrt(right.Sum(static x => (double)x * x)),
            VectorMetric.Dot => dot,
            VectorMetric.Hamming => left.Zip(right, static (x, y) => x >= 0 == y >= 0 ? 1.0 : 0).Average(),
            _ => 1 / (1 + Math.Sqrt(left.Zip(right, static (x, y) => (double)(x - y) * (x - y)).Sum())),
        };
    }

    private static float[] Draw(Random random, int dimensions, float length)
    {
        float[] drawn = [.. Enumerable.Range(0, dimensions).Select(_ => ((random.NextSingle() * 2) - 1) * length)];
        drawn[random.Next(dimensions)] = length; // at least one number is not too small to be one
        return drawn;
    }
}
